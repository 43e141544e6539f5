"""The OpenAPI document of the HTTP door, made of its paths and of the models that these name."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, models_json_schema
from pydantic_core.core_schema import SerSchema
from starlette.requests import Request
from starlette.responses import Response

from showcaller.actors.contract.errors import HTTP_STATUS, Code
from showcaller.actors.contract.results import GivenMessage
from showcaller.transport.doors.http.audience import audience_of
from showcaller.transport.doors.http.call_answers import MESSAGES, MESSAGES_SAID
from showcaller.transport.doors.http.operations import JSON, Form, Operation, Path
from showcaller.transport.doors.http.replies import HEADERS, json_bytes

VERSION: Final = "3.1.0"
ANYWHERE: Final = (
    Code.INVALID_INPUT,
    Code.UNAUTHENTICATED,
    Code.FORBIDDEN,
    Code.NOT_FOUND,
    Code.RATE_LIMITED,
    Code.UNAVAILABLE,
    Code.STORAGE,
)
"""Refusals that any path may give."""

_REF: Final = "#/components/schemas/{model}"
_Document = dict[str, Any]


class AsWritten(GenerateJsonSchema):
    """Schemas of models as they are written: what is None is left out of results, and all else stays."""

    def ser_schema(self, schema: SerSchema) -> JsonSchemaValue | None:
        """Look through the serializer that leaves out what is None."""
        return None if schema["type"] == "function-wrap" else super().ser_schema(schema)


def openapi_document(paths: Iterable[Path], version: str) -> _Document:
    """Give the document of these paths."""
    listed = list(paths)
    asked: list[tuple[Any, JsonSchemaMode]] = []
    for path in listed:
        asked.extend((model, "validation") for model in _models(path.operation.takes))
        asked.extend((model, "serialization") for model in _models(path.operation.gives))
    schemas, definitions = models_json_schema(
        list(dict.fromkeys(asked)), ref_template=_REF, schema_generator=AsWritten
    )
    document: _Document = {
        "openapi": VERSION,
        "info": {
            "title": "Showcaller",
            "version": version,
            "description": "The HTTP door of a relay. All is refused without a token, from another site's "
            "page, and under another name than the relay's own. At /mcp it speaks MCP.",
        },
        "security": [{"token": []}],
        "paths": {},
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The owner's token, which is in the file 'token' of the data folder, or "
                    "another that the owner has made.",
                }
            },
            "schemas": {**definitions.get("$defs", {}), "Refused": _refused()},
        },
    }
    for path in listed:
        document["paths"].setdefault(path.path, {})[path.method.lower()] = _operation(path, schemas)
    return document


def _models(form: Form | None) -> tuple[type[BaseModel], ...]:
    if isinstance(form, tuple):
        return form
    return (form,) if isinstance(form, type) else ()


def _schema(form: Form, mode: JsonSchemaMode, schemas: Mapping[Any, JsonSchemaValue]) -> _Document:
    if isinstance(form, Mapping):
        return dict(form)
    found = [dict(schemas[model, mode]) for model in _models(form)]
    return found[0] if len(found) == 1 else {"anyOf": found}


def _operation(path: Path, schemas: Mapping[Any, JsonSchemaValue]) -> _Document:
    said = path.operation
    media = (said.media,) if isinstance(said.media, str) else said.media
    answer = {one: {"schema": _schema(said.gives, "serialization", schemas)} for one in media}
    told: _Document = {
        "operationId": path.endpoint.__name__,
        "summary": said.summary,
        "description": f"For {_FOR[audience_of(path.path)]}.",
        "parameters": _parameters(said),
        "responses": {"200": {"description": "Carried out.", "content": answer}, **_refusals(said)},
    }
    if said.streams:
        told["x-streams"] = True
    if said.takes is not None:
        body = {JSON: {"schema": _schema(said.takes, "validation", schemas)}}
        told["requestBody"] = {"required": True, "content": body}
    return told


_FOR: Final = {
    "owner": "the relay's owner",
    "supervisors": "the relay's owner, and who holds a supervisor's token",
    "all": "whoever holds a token",
}


def _parameters(said: Operation) -> list[_Document]:
    named = [_parameter(name, "path", schema) for name, schema in said.path.items()]
    named += [_parameter(name, "query", schema) for name, schema in said.query.items()]
    if said.once:
        key = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"}
        named.append(_parameter("Idempotency-Key", "header", key))
    return named


def _parameter(name: str, place: str, schema: Mapping[str, Any]) -> _Document:
    return {"name": name, "in": place, "required": place == "path", "schema": dict(schema)}


def _refusals(said: Operation) -> _Document:
    codes: dict[int, list[str]] = {}
    for code in (*ANYWHERE, *said.codes):
        status = HTTP_STATUS[code]
        if status is not None:
            codes.setdefault(status, []).append(code.value)
    content = {JSON: {"schema": {"$ref": _REF.format(model="Refused")}}}
    return {
        str(status): {"description": f"Refused: {', '.join(dict.fromkeys(named))}.", "content": content}
        for status, named in sorted(codes.items())
    }


def _refused() -> _Document:
    return {
        "type": "object",
        "description": "A refusal; further fields help to go on.",
        "properties": {
            "ok": {"const": False},
            "code": {"enum": [code.value for code in Code]},
            "error": {"type": "string"},
            "retryAfterSeconds": {"type": "integer", "minimum": 0},
            MESSAGES: {
                "type": "array",
                "items": GivenMessage.model_json_schema(mode="serialization", schema_generator=AsWritten),
                "description": MESSAGES_SAID,
            },
        },
        "required": ["ok", "code", "error"],
        "additionalProperties": True,
    }


class DocumentRoutes:
    """The path of the document itself, which stands in it."""

    def __init__(self, others: Iterable[Path], version: str) -> None:
        self._others = list(others)
        self._version = version

    def routes(self) -> list[Path]:
        """Give the path."""
        return [Path("GET", "/api/openapi.json", self.openapi, _DOCUMENT)]

    async def openapi(self, request: Request) -> Response:
        """Give the document of all paths."""
        del request
        document = openapi_document([*self._others, *self.routes()], self._version)
        return Response(json_bytes(document), 200, HEADERS, JSON)


_DOCUMENT: Final = Operation(
    "Give this document.", gives={"type": "object", "required": ["openapi", "paths"]}
)
