"""Which values count as absent, and what a string holds that some clients send for an array or object."""

import types
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from showcaller.actors.contract.arguments import AS_SENT, OR_TEXT
from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.json_text import parse_json
from showcaller.actors.contract.limits import CALL_BYTES, CALL_PARTS


def clean(value: JsonValue, field: FieldInfo) -> JsonValue:
    """Give what an argument's value holds: trimmed, read where it is JSON in a string, without empty parts.

    Raises:
        Refusal: for a string that should hold an array or object and holds broken JSON.

    """
    if isinstance(value, str):
        if _marked(field, AS_SENT):
            return value
        value = value.strip()
        if value[:1] in {"[", "{"} and _structured(field.annotation):
            value = _read(value, field)
    return _without_empty(value)


def is_empty(value: JsonValue) -> bool:
    """Tell whether a cleaned value counts as absent."""
    return value is None or value in ("", [], {})


def absent_foreign(value: JsonValue) -> bool:
    """Tell whether the value of an argument that the action does not take counts as absent."""
    return value is False or absent(value)


def absent(value: JsonValue) -> bool:
    """Tell whether a value counts as absent as it came."""
    return is_empty(_without_empty(value))


def _read(text: str, field: FieldInfo) -> JsonValue:
    try:
        return parse_json(text, CALL_BYTES, CALL_PARTS)
    except Refusal:
        if _marked(field, OR_TEXT):
            return text  # as in [ERROR], which is no JSON and a text to look for
        raise


def _marked(field: FieldInfo, mark: str) -> bool:
    parts = get_args(field.annotation)
    return mark in field.metadata or any(mark in get_args(part) for part in parts)


def _structured(annotation: Any) -> bool:
    """Tell whether a field holds an array or an object."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _structured(get_args(annotation)[0])
    if origin in {Union, types.UnionType}:
        return any(map(_structured, get_args(annotation)))
    kind = origin or annotation
    return isinstance(kind, type) and issubclass(kind, list | tuple | dict | BaseModel)


def _without_empty(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        inner = {name: _without_empty(part) for name, part in value.items()}
        return {name: part for name, part in inner.items() if not is_empty(part)}
    if isinstance(value, list):
        return [part for part in map(_without_empty, value) if not is_empty(part)]
    return value
