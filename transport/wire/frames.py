"""Frames: the msgpack envelope of everything that crosses a link, and what it refuses."""

import math
import threading
from typing import Any, Final, NamedTuple

import msgpack

VERSION: Final = 1
FRAME_LIMIT: Final = 16 * 1024 * 1024
DEPTH_LIMIT: Final = 32
NAME_LIMIT: Final = 200
REUSED_BUFFER_LIMIT: Final = 1024 * 1024

_KEPT_AS_THEY_ARE: Final = frozenset({str, bool, type(None), bytes})


class WireError(Exception):
    """A frame or its message is refused; the text says what is wrong with it."""


class FrameTooLargeError(WireError):
    """The frame has more bytes than the limit."""


class FrameMalformedError(WireError):
    """The bytes are not msgpack of our shape, or hold a value that may not cross a border."""


class WrongVersionError(WireError):
    """The frame speaks a version of the wire that this program does not."""


class Frame(NamedTuple):
    """One message on its way: ``number`` counts frames of one direction from 1, ``session`` may be empty.

    ``body`` holds only None, booleans, integers of at most 64 bits, finite floats, text, bytes, lists and
    dicts with text keys, nested at most ``DEPTH_LIMIT`` deep.
    """

    kind: str
    number: int
    session: str
    body: Any


class _Packers(threading.local):
    """One packer per thread: reusing it saves a third of the time that encoding takes."""

    def __init__(self) -> None:
        self.packer = msgpack.Packer()


_packers = _Packers()


def encode(frame: Frame, limit: int = FRAME_LIMIT) -> bytes:
    """Turn a frame into bytes. Thread-safe.

    Raises FrameMalformedError for a value that may not cross, FrameTooLargeError beyond ``limit`` bytes.
    """
    check_value(frame.body)
    try:
        data: bytes = _packers.packer.pack([VERSION, frame.kind, frame.number, frame.session, frame.body])
    except (ValueError, TypeError, OverflowError) as error:
        raise FrameMalformedError(f"a value cannot be written as msgpack: {error}") from error
    if len(data) > REUSED_BUFFER_LIMIT:  # or the thread would keep a buffer of this size for good
        _packers.packer = msgpack.Packer()
    if len(data) > limit:
        raise FrameTooLargeError(f"a frame of {len(data)} bytes is larger than the limit of {limit}")
    return data


def decode(data: bytes, limit: int = FRAME_LIMIT) -> Frame:
    """Turn bytes of a stranger into a frame, or raise a WireError; any kind is let through. Thread-safe."""
    if len(data) > limit:
        raise FrameTooLargeError(f"a frame of {len(data)} bytes is larger than the limit of {limit}")
    try:
        parts = msgpack.unpackb(data)
    except (ValueError, TypeError, OverflowError, msgpack.UnpackException) as error:
        raise FrameMalformedError(f"the bytes are not msgpack: {error}") from error
    if type(parts) is not list or len(parts) != 5:
        raise FrameMalformedError("a frame is a list of version, kind, number, session and body")
    version, kind, number, session, body = parts
    if type(version) is not int or version != VERSION:
        raise WrongVersionError(f"the frame has version {_shown(version)}, and this program speaks {VERSION}")
    _check_names(kind, number, session)
    check_value(body)
    return Frame(kind, number, session, body)


def check_value(value: Any) -> None:
    """Raise FrameMalformedError unless the value and all within it may cross a border."""
    _check(value, DEPTH_LIMIT)


def _check(value: Any, depth_left: int) -> None:
    kind = type(value)
    if kind in _KEPT_AS_THEY_ARE:
        return
    if kind is dict:
        _check_depth(depth_left)
        for key, inner in value.items():
            if type(key) is not str:
                raise FrameMalformedError(f"a key is {_shown(key)}, and keys must be text")
            if type(inner) not in _KEPT_AS_THEY_ARE:  # for each of them a call would cost more than all else
                _check(inner, depth_left - 1)
    elif kind is list or kind is tuple:
        _check_depth(depth_left)
        for inner in value:
            if type(inner) not in _KEPT_AS_THEY_ARE:
                _check(inner, depth_left - 1)
    else:
        _check_number(value)


def _check_depth(depth_left: int) -> None:
    if depth_left == 0:
        raise FrameMalformedError(f"a value is nested deeper than {DEPTH_LIMIT}")


def _check_number(value: Any) -> None:
    if type(value) is int:
        if not -(2**63) <= value < 2**64:
            raise FrameMalformedError("a number has more than 64 bits")
    elif type(value) is not float:
        raise FrameMalformedError(f"a value of type {type(value).__name__} cannot cross a link")
    elif not math.isfinite(value):
        raise FrameMalformedError("NaN and Infinity cannot cross a link")


def _check_names(kind: Any, number: Any, session: Any) -> None:
    if type(kind) is not str or type(session) is not str or max(len(kind), len(session)) > NAME_LIMIT:
        raise FrameMalformedError(f"kind and session of a frame are text of at most {NAME_LIMIT} characters")
    if type(number) is not int or not 1 <= number < 2**63:
        raise FrameMalformedError(f"the number of a frame is {_shown(number)}, not one from 1 to 2^63-1")


def _shown(value: Any) -> str:
    return repr(value)[:80]
