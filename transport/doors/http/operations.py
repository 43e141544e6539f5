"""What a path of the HTTP door takes and gives, said beside it; the OpenAPI document is made of that."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from showcaller.actors.contract.errors import Code

Schema = Mapping[str, Any]
Form = type[BaseModel] | tuple[type[BaseModel], ...] | Schema
"""A model, several of which it is one, or a JSON schema that was made of models elsewhere."""
Endpoint = Callable[[Request], Awaitable[Response]]

TEXT: Final[Schema] = MappingProxyType({"type": "string"})
JSON: Final = "application/json"


@dataclass(frozen=True)
class Operation:
    """One method of one path.

    ``takes`` is the body and ``gives`` the answer where the status is 200, of the media type ``media``;
    ``path`` and ``query`` are its parameters by name; with ``once`` it heeds ``Idempotency-Key``; ``codes``
    are refusals besides those that any path may give; with ``streams`` the answer goes on until what it
    tells of is over.
    """

    summary: str
    gives: Form
    takes: Form | None = None
    path: Mapping[str, Schema] = field(default_factory=dict)
    query: Mapping[str, Schema] = field(default_factory=dict)
    once: bool = False
    codes: tuple[Code, ...] = ()
    media: str | tuple[str, ...] = JSON
    streams: bool = False


class Path(Route):
    """A path with one method, and what is said of it."""

    def __init__(self, method: str, path: str, endpoint: Endpoint, operation: Operation) -> None:
        super().__init__(path, endpoint, methods=[method])
        if operation.streams and self.methods is not None:
            self.methods.discard("HEAD")  # which would get no end either
        self.method = method
        self.operation = operation
