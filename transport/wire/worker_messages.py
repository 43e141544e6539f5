"""The worker protocol's messages as frames, checked by their models when they arrive."""

from typing import Any, Final, TypeVar, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from showcaller.actors.contract.worker import (
    FROM_WORKER,
    TO_WORKER,
    FromWorkerMessage,
    ToWorkerMessage,
)
from showcaller.transport.wire.frames import Frame, WireError
from showcaller.transport.wire.protocol import PROTOCOL

TO_WORKER_KINDS: Final = frozenset(model.model_fields["kind"].default for model in get_args(ToWorkerMessage))
FROM_WORKER_KINDS: Final = frozenset(
    model.model_fields["kind"].default for model in get_args(FromWorkerMessage)
)
T = TypeVar("T")
_NOT_IN_THE_BODY: Final = frozenset({"kind", "session", "worker"})
"""What the frame itself holds, and what is only the relay's."""
_ADDED: Final = {"run_turn": {"command": 5}}
"""Of each kind, the fields that older programs of the versions spoken do not know, and since which one.

A worker that knows no command but the shell's does not know its provider either, and fails the turn.
"""

_PLAIN: Final = frozenset({str, type(None), bool, int, float})


class UnknownKindError(WireError):
    """The frame is well formed, but its kind is not one that this end takes."""


class MessageRefusedError(WireError):
    """The frame's body is not what its kind demands; the text names the first field that is wrong."""


def to_frame(message: ToWorkerMessage | FromWorkerMessage, number: int, version: int = PROTOCOL) -> Frame:
    """Wrap a message of either direction as the frame with this number, for a peer of this version. Pure."""
    body = {
        name: value if type(value) in _PLAIN else _plain(value)
        for name, value in vars(message).items()
        if name not in _NOT_IN_THE_BODY
    }
    for name, since in _ADDED.get(message.kind, {}).items():
        if version < since:
            del body[name]
    return Frame(message.kind, number, message.session, body)


def _plain(value: Any) -> Any:
    """Give a field's value without models in it, which stand alone or in a tuple."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    return [_plain(inner) for inner in value] if isinstance(value, tuple) else value


def to_worker_message(frame: Frame) -> ToWorkerMessage:
    """Give the message that a relay sent, or raise UnknownKindError or MessageRefusedError. Pure."""
    return _validated(frame, TO_WORKER_KINDS, TO_WORKER)


def from_worker_message(frame: Frame) -> FromWorkerMessage:
    """Give the message that a worker sent, or raise UnknownKindError or MessageRefusedError. Pure."""
    return _validated(frame, FROM_WORKER_KINDS, FROM_WORKER)


def _validated(frame: Frame, kinds: frozenset[str], models: TypeAdapter[T]) -> T:
    if frame.kind not in kinds:
        raise UnknownKindError(f"frame {frame.number} has the unknown kind {frame.kind!r}")
    body: Any = frame.body
    if type(body) is not dict or not _NOT_IN_THE_BODY.isdisjoint(body):
        raise MessageRefusedError(f"frame {frame.number} ({frame.kind}): the body must hold the other fields")
    try:
        return models.validate_python({"kind": frame.kind, "session": frame.session, **body}, strict=True)
    except ValidationError as error:
        raise MessageRefusedError(f"frame {frame.number} ({frame.kind}): {_first(error)}") from error


def _first(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(step) for step in problem["loc"]) or "body"
    return f"{place}: {problem['msg']}"
