"""Frames: what is carried comes back the same, and nothing else gets through."""

import math
import threading
from typing import Any

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from showcaller.transport.wire import frames
from showcaller.transport.wire.frames import (
    DEPTH_LIMIT,
    VERSION,
    Frame,
    FrameMalformedError,
    FrameTooLargeError,
    WireError,
    WrongVersionError,
    decode,
    encode,
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def nested(depth: int) -> Any:
    value: Any = "core"
    for _ in range(depth):
        value = [value]
    return value


def packed(*parts: Any) -> bytes:
    data: bytes = msgpack.packb(list(parts))
    return data


@given(st.text(max_size=20), st.integers(1, 2**63 - 1), st.text(max_size=20), values)
def test_a_frame_comes_back_as_it_was_sent(kind: str, number: int, session: str, body: Any) -> None:
    frame = Frame(kind, number, session, body)
    assert decode(encode(frame)) == frame


@given(st.binary(max_size=200))
@example(b"")
@example(b"\xc1")
@example(b"\xdd\xff\xff\xff\xff")
@example(b"\x91" * 2000)
@example(b"\xc7\x0c\xff" + b"\xff" * 12)
@example(b"\x81\x91\x01\x01")
def test_any_bytes_give_a_frame_or_a_wire_error(data: bytes) -> None:
    try:
        frame = decode(data)
    except WireError:
        return
    assert isinstance(frame, Frame)


@given(st.data())
def test_a_damaged_frame_gives_a_frame_or_a_wire_error(data: st.DataObject) -> None:
    good = bytearray(encode(Frame("run_turn", 7, "ses_a", {"text": "x" * 20, "item": [1, 2.5, None]})))
    for _ in range(data.draw(st.integers(1, 3))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    try:
        frame = decode(bytes(good[: data.draw(st.integers(0, len(good)))]))
    except WireError:
        return
    assert isinstance(frame, Frame)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_no_nan_and_no_infinity_crosses_in_either_direction(number: float) -> None:
    with pytest.raises(FrameMalformedError, match="NaN and Infinity"):
        encode(Frame("k", 1, "", {"a": [number]}))
    with pytest.raises(FrameMalformedError, match="NaN and Infinity"):
        decode(packed(VERSION, "k", 1, "", {"a": [number]}))


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**400])
def test_numbers_beyond_64_bits_are_refused(number: int) -> None:
    with pytest.raises(FrameMalformedError, match="64 bits"):
        encode(Frame("k", 1, "", number))


def test_nesting_is_carried_to_the_limit_and_refused_beyond_it() -> None:
    assert decode(encode(Frame("k", 1, "", nested(DEPTH_LIMIT)))).body == nested(DEPTH_LIMIT)
    with pytest.raises(FrameMalformedError, match="nested deeper"):
        encode(Frame("k", 1, "", nested(DEPTH_LIMIT + 1)))
    with pytest.raises(FrameMalformedError, match="nested deeper"):
        decode(packed(VERSION, "k", 1, "", nested(DEPTH_LIMIT + 1)))
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(FrameMalformedError, match="nested deeper"):
        encode(Frame("k", 1, "", endless))


def test_invalid_utf_8_and_lone_surrogates_are_refused() -> None:
    with pytest.raises(FrameMalformedError):
        decode(b"\x95\x01\xa1k\x01\xa0\xa1\xff")
    with pytest.raises(FrameMalformedError):
        encode(Frame("k", 1, "", "\ud800"))


@pytest.mark.parametrize("value", [object(), {1: 2}, {1, 2}, 1j])
def test_what_is_no_plain_data_is_refused(value: Any) -> None:
    with pytest.raises(FrameMalformedError):
        encode(Frame("k", 1, "", value))


def test_extension_types_are_refused() -> None:
    with pytest.raises(FrameMalformedError, match="ExtType"):
        decode(packed(VERSION, "k", 1, "", msgpack.ExtType(5, b"x")))
    with pytest.raises(FrameMalformedError, match="Timestamp"):
        decode(packed(VERSION, "k", 1, "", msgpack.Timestamp(0)))


def test_a_frame_beyond_the_limit_is_refused_at_both_ends() -> None:
    frame = Frame("k", 1, "", b"x" * 1000)
    with pytest.raises(FrameTooLargeError, match="larger than the limit of 1000"):
        encode(frame, limit=1000)
    with pytest.raises(FrameTooLargeError, match="larger than the limit of 1000"):
        decode(encode(frame), limit=1000)


@pytest.mark.parametrize("version", [0, 2, "1", None, True, 1.0])
def test_another_version_is_named_and_refused(version: Any) -> None:
    with pytest.raises(WrongVersionError, match="this program speaks 1"):
        decode(packed(version, "k", 1, "", None))


@pytest.mark.parametrize(
    "parts",
    [
        (VERSION, "k", 1, ""),
        (VERSION, 5, 1, "", None),
        (VERSION, "k", 0, "", None),
        (VERSION, "k", True, "", None),
        (VERSION, "k", 2**63, "", None),
        (VERSION, "k", 1, None, None),
        (VERSION, "k" * 201, 1, "", None),
    ],
)
def test_an_envelope_of_another_shape_is_refused(parts: tuple[Any, ...]) -> None:
    with pytest.raises(FrameMalformedError):
        decode(packed(*parts))


def test_a_refused_value_leaves_the_packer_clean() -> None:
    with pytest.raises(WireError):
        encode(Frame("k", 1, "", ["written before the fault", "\ud800"]))
    assert decode(encode(Frame("k", 2, "", "next"))) == Frame("k", 2, "", "next")


def test_a_large_frame_does_not_keep_its_buffer() -> None:
    encode(Frame("k", 1, "", b"small"))
    before = frames._packers.packer
    encode(Frame("k", 1, "", b"x" * (frames.REUSED_BUFFER_LIMIT + 1)))
    assert frames._packers.packer is not before


def test_threads_encode_beside_each_other() -> None:
    wrong: list[int] = []

    def work(mine: int) -> None:
        for number in range(1, 300):
            frame = Frame("k", number, f"ses_{mine}", {"n": [mine] * 50})
            if decode(encode(frame)) != frame:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
