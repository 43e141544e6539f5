"""What a worker and a process in which functions run say to each other, as lists of JSON objects in frames.

A frame is its length, in four bytes, the first of most weight, and UTF-8. The process runs the user's code:
what comes from it is looked at as closely as what comes from anybody.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from showcaller.transport.worker.text import HEAD_LIMIT, TAIL_LIMIT

LENGTH_BYTES: Final = 4
FRAME_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of a frame from the process: its longest reply, where JSON needs six bytes for a character."""
_ROOM: Final = 1024


class GarbageError(Exception):
    """What came is none of the messages below; the text says what is wrong with it."""


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ChildReady(_Message):
    """The process can take calls."""

    kind: Literal["ready"]


class CallBegun(_Message):
    """The function is about to be imported or to run: from here on it may have done something."""

    kind: Literal["begun"]
    call: int = Field(ge=0)


class CallOutput(_Message):
    """A call has printed something, or has said how far it is."""

    kind: Literal["output"]
    call: int = Field(ge=0)
    text: str = Field(max_length=16 * 1024 + _ROOM)


class CallEnded(_Message):
    """The one end of a call: failed if and only if there is an ``error``."""

    kind: Literal["ended"]
    call: int = Field(ge=0)
    reply: str = Field(max_length=HEAD_LIMIT + TAIL_LIMIT + _ROOM)
    truncated: bool
    error: str | None = Field(max_length=8_000 + _ROOM)


class CallReturned(_Message):
    """The call did not run and will not run here, because a module has changed since it was imported."""

    kind: Literal["returned"]
    call: int = Field(ge=0)


FromChild = ChildReady | CallBegun | CallOutput | CallEnded | CallReturned
_FROM_CHILD: Final = TypeAdapter(list[Annotated[FromChild, Field(discriminator="kind")]])


def call_message(
    call: int, target: str, text: str, item: str | None, environment: Mapping[str, str]
) -> dict[str, Any]:
    """Give what starts a call: ``item`` is the JSON of its item, None where ``text`` stands for it. Pure.

    ``environment`` are the variables of its turn.
    """
    known = {"call": call, "target": target, "text": text, "item": item, "environment": dict(environment)}
    return {"kind": "call", **known}


def cancel_message(call: int) -> dict[str, Any]:
    """Give what asks a call to end. Pure."""
    return {"kind": "cancel", "call": call}


def to_frame(messages: Sequence[dict[str, Any]]) -> bytes:
    """Give the frame of some messages to the process. Pure."""
    body = json.dumps(messages).encode()
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


class Frames:
    """Puts frames together from bytes as they come. Not thread-safe."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[list[FromChild]]:
        """Give the messages of each frame that is whole now. Raises GarbageError, and is no use after."""
        self._bytes += data
        while len(self._bytes) >= LENGTH_BYTES:
            size = int.from_bytes(self._bytes[:LENGTH_BYTES], "big")
            if size > FRAME_LIMIT:
                raise GarbageError(f"a frame of {size:,} bytes")
            end = LENGTH_BYTES + size
            if len(self._bytes) < end:
                return
            body = bytes(self._bytes[LENGTH_BYTES:end])
            del self._bytes[:end]
            yield _messages(body)


def _messages(body: bytes) -> list[FromChild]:
    try:
        return _FROM_CHILD.validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "a frame"
        raise GarbageError(f"{where}: {first['msg']}") from error
