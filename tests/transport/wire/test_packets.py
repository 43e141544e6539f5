"""Packets come back as they were written, and bytes of strangers are a packet or are refused."""

from contextlib import suppress

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.transport.wire.frames import WireError, WrongVersionError
from showcaller.transport.wire.packets import (
    FRAMES_LIMIT,
    PACKET_LIMIT,
    RUN_LIMIT,
    Ack,
    BatchPacket,
    Hello,
    Packet,
    Refused,
    decode_packet,
    encode_packet,
)

NAMES = st.text(max_size=RUN_LIMIT)
COUNTS = st.integers(min_value=0, max_value=2**63 - 1)
PACKETS: st.SearchStrategy[Packet] = st.one_of(
    st.builds(
        Hello, NAMES, NAMES, NAMES, st.text(max_size=100), st.lists(st.integers(0, 99), max_size=5).map(tuple)
    ),
    st.builds(
        BatchPacket,
        NAMES,
        NAMES,
        st.integers(min_value=1, max_value=2**63 - 1),
        COUNTS,
        st.lists(st.binary(max_size=50), max_size=5).map(tuple),
    ),
    st.builds(Ack, NAMES, NAMES, COUNTS, st.booleans()),
    st.builds(Refused, st.text(max_size=100)),
)


@given(PACKETS)
def test_a_packet_comes_back_as_it_was_written(packet: Packet) -> None:
    assert decode_packet(encode_packet(packet)) == packet


@given(st.one_of(st.binary(max_size=200), PACKETS.map(lambda packet: encode_packet(packet)[:-1])))
def test_any_bytes_are_a_packet_or_are_refused(data: bytes) -> None:
    with suppress(WireError):
        packet = decode_packet(data)
        assert decode_packet(encode_packet(packet)) == packet


@pytest.mark.parametrize(
    "fields",
    [
        [],
        [1],
        [1, 9, "x"],
        [1, 2, "run", "to", 0, 0, []],
        [1, 2, "run", "to", 1, -1, []],
        [1, 2, "run", "to", True, 0, []],
        [1, 2, "run", "to", 1, 2**63, []],
        [1, 2, "run", "to", 1, 0, ["text"]],
        [1, 2, "run", "to", 1, 0, [b""] * (FRAMES_LIMIT + 1)],
        [1, 2, "x" * (RUN_LIMIT + 1), "to", 1, 0, []],
        [1, 3, "run", "to", 0, 1],
        [1, 1, "peer", "run", "to", "token", ["1"]],
        [1, 4, b"why"],
        {"a": 1},
    ],
)
def test_what_has_not_the_fields_of_a_packet_is_refused(fields: object) -> None:
    with pytest.raises(WireError):
        decode_packet(msgpack.packb(fields))


def test_another_version_is_refused_except_in_a_hello_which_says_what_its_writer_speaks() -> None:
    with pytest.raises(WrongVersionError):
        decode_packet(msgpack.packb([7, 3, "run", "to", 0, False]))
    hello = decode_packet(msgpack.packb([7, 1, "peer", "run", "", "", [7]]))
    assert isinstance(hello, Hello)
    assert hello.versions == (7,)


def test_a_packet_that_is_too_large_is_refused_before_it_is_read() -> None:
    with pytest.raises(WireError, match="larger than the limit"):
        decode_packet(b"\xc1" * (PACKET_LIMIT + 1))
