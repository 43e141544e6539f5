"""The models of results as their readers see them: under the names that are written."""

import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from docs.schema_words import flat
from showcaller.transport.doors.http.openapi import AsWritten

CONTRACT = "showcaller.actors.contract."


class Shape:
    """One model of a result, or of what stands in one."""

    def __init__(self, model: type[BaseModel]) -> None:
        self.name = model.__name__
        self._model = model
        schema = model.model_json_schema(mode="serialization", schema_generator=AsWritten)
        while "$ref" in schema:  # a model that refers to itself
            schema = schema["$defs"][schema["$ref"].rpartition("/")[2]]
        self.fields: dict[str, dict[str, Any]] = schema.get("properties", {})
        self._written = dict(zip(model.model_fields, self.fields, strict=True))

    @property
    def said(self) -> str:
        """What its docstring says, with the fields under the names that are written."""
        told = flat(self._model.__doc__ or "").replace("None, written as null", "null")
        return re.sub(r"`(\w+)`(?! is written)", self._by_written_name, told)

    def _by_written_name(self, found: re.Match[str]) -> str:
        return f"`{self._written.get(found[1], found[1])}`"

    def says_null(self, written: str) -> bool:
        """Whether the field is written as null when there is nothing to say."""
        null_said: frozenset[str] = getattr(self._model, "null_said", frozenset())
        return any(self._written[name] == written for name in null_said)

    def may_leave_out(self, written: str) -> bool:
        """Whether the field is left out when there is nothing to say."""
        is_optional = {"type": "null"} in self.fields[written].get("anyOf", ())
        return is_optional and not self.says_null(written)


def nested(shapes: Iterable[Shape]) -> list[Shape]:
    """Give the shapes that these refer to, at any depth, without themselves; in the order of their names."""
    models = {model.__name__: model for model in _below(BaseModel) if model.__module__.startswith(CONTRACT)}
    known = {shape.name for shape in shapes}
    found: dict[str, Shape] = {}
    left = list(shapes)
    while left:
        for name in re.findall(r"#/\$defs/(\w+)", str(left.pop().fields)):
            if name not in known and name not in found:
                found[name] = Shape(models[name])
                left.append(found[name])
    return [found[name] for name in sorted(found)]


def _below(model: type[BaseModel]) -> Iterable[type[BaseModel]]:
    for each in model.__subclasses__():
        yield each
        yield from _below(each)
