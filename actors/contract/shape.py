"""The shape of a call: JSON as it came, in; a typed call, or the refusal that says what to mend, out."""

import re
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from showcaller.actors.contract.actions import Action, find_action, unknown_action, unsupported
from showcaller.actors.contract.arguments import AS_SENT, Hearing
from showcaller.actors.contract.calls import Call, CallModel
from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.json_text import check_value, parse_json
from showcaller.actors.contract.limits import CALL_BYTES, IGNORED_NAMES, LONGEST_WAIT_MINUTES

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A call that has the right shape.

    ``action`` is its row of the table; ``ignored`` names what the action does not take, 20 at most; ``notes``
    are sentences about what was taken otherwise than sent, such as a number beyond its range.
    """

    call: Call
    action: Action
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def parse_call(
    raw: object, *, longest_wait_seconds: int = LONGEST_WAIT_MINUTES.default * 60, external: bool = False
) -> ParsedCall:
    """Make a typed call of what a door received.

    Args:
        raw: a JSON object as Python values, or its text (``str`` or ``bytes``).
        longest_wait_seconds: the relay's setting; a longer wait is cut to it, and a note says so.
        external: the caller is an external session, which may wait without naming a message.

    Raises:
        Refusal: for everything else, whatever it is.

    """
    given = _arguments(raw)
    row = _row(given.pop("action", None))
    model = row.model
    if model is None:
        raise unsupported(row)
    own = {name: field for name, field in model.model_fields.items() if name != "action"}
    taken = {name: _cleaned(value, own[name]) for name, value in given.items() if name in own}
    taken = {name: value for name, value in taken.items() if not _empty(value)}
    foreign = [
        _shown(name) for name, value in given.items() if name not in own and not _absent_foreign(value)
    ]
    if foreign and model.refuses_foreign:
        raise _takes_not(row, model, foreign, list(own))
    if row.relay_optional:
        taken.setdefault("relay", "this")
    _check_required(row, model, taken, external=external)
    hearing = Hearing(longest_wait_seconds)
    call = _validated(row, model, taken, hearing)
    return ParsedCall(call, row, tuple(foreign[:IGNORED_NAMES]), tuple(hearing.notes))


def _arguments(raw: object) -> dict[str, JsonValue]:
    if isinstance(raw, str | bytes):
        raw = parse_json(raw, CALL_BYTES)
    else:
        check_value(raw)
    if not isinstance(raw, dict):
        raise invalid('A call is a JSON object, as in {"action": "list_sessions", "relay": "this"}.')
    return dict(raw)


def _row(name: JsonValue) -> Action:
    if name is None or (isinstance(name, str) and not name.strip()):
        raise unknown_action(None)
    if not isinstance(name, str):
        raise invalid("action must be text: the name of an action, as in list_sessions.")
    return find_action(name.strip())


def _cleaned(value: JsonValue, field: FieldInfo) -> JsonValue:
    if isinstance(value, str):
        if _stays_as_sent(field):
            return value
        value = value.strip()
        if value[:1] in {"[", "{"} and _structured(field.annotation):
            value = parse_json(value, CALL_BYTES)
    return _without_empty(value)


def _stays_as_sent(field: FieldInfo) -> bool:
    parts = get_args(field.annotation)
    return AS_SENT in field.metadata or any(AS_SENT in get_args(part) for part in parts)


def _structured(annotation: Any) -> bool:
    """Tell whether a field holds an array or an object, which some clients send as JSON in a string."""
    origin = get_origin(annotation)
    if origin in {Union, types.UnionType}:
        return any(_structured(part) for part in get_args(annotation))
    if origin is not None:
        return issubclass(origin, list | dict)
    return isinstance(annotation, type) and issubclass(annotation, list | dict | BaseModel)


def _without_empty(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        inner = {name: _without_empty(part) for name, part in value.items()}
        return {name: part for name, part in inner.items() if not _empty(part)}
    if isinstance(value, list):
        return [part for part in map(_without_empty, value) if not _empty(part)]
    return value


def _empty(value: JsonValue) -> bool:
    return value is None or value in ("", [], {})


def _absent_foreign(value: JsonValue) -> bool:
    trimmed = value.strip() if isinstance(value, str) else value
    return trimmed is False or _empty(_without_empty(trimmed))


def _shown(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else quote_foreign(name, 64)


def _takes_not(row: Action, model: type[CallModel], foreign: list[str], own: list[str]) -> Refusal:
    named = ", ".join(foreign[:IGNORED_NAMES])
    return invalid(
        f"{row.name} does not take: {named}. Its arguments: {', '.join(own)}. {model.nothing}",
        arguments=own,
    )


def _check_required(
    row: Action, model: type[CallModel], taken: Mapping[str, JsonValue], *, external: bool
) -> None:
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    if not external or model.not_external & taken.keys():
        required += [name for name in model.model_fields if name in model.not_external]
    missing = [name for name in required if name not in taken]
    if missing:
        raise invalid(_sentence(row, model, f"needs {' and '.join(missing)}"), missing_arguments=missing)


def _validated(row: Action, model: type[Call], taken: Mapping[str, JsonValue], hearing: Hearing) -> Call:
    try:
        return model.model_validate(taken, context=hearing)
    except ValidationError as error:
        problems = "; ".join(_problem(each) for each in error.errors(include_url=False)[:5])
        raise invalid(_sentence(row, model, problems)) from error


def _problem(error: ErrorDetails) -> str:
    name = ".".join(map(str, error["loc"]))
    reason = error.get("ctx", {}).get("error")
    return f"{name} {reason}" if reason is not None else f"{name}: {error['msg']}"


def _sentence(row: Action, model: type[CallModel], problem: str) -> str:
    return f"{row.name}: {problem}. {model.nothing}".strip()
