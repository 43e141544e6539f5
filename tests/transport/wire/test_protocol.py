"""Which version of the worker protocol two programs use."""

import pytest

from showcaller.transport.wire.frames import WrongVersionError
from showcaller.transport.wire.packets import Ack, Hello, Refused, decode_packet, encode_packet
from showcaller.transport.wire.protocol import PROTOCOL, SPOKEN, agreed, nothing_in_common, spoken_by


def test_a_program_speaks_its_version_and_the_one_before() -> None:
    assert [spoken_by(newest) for newest in (1, 2, 3)] == [(1,), (2, 1), (3, 2)]
    assert SPOKEN[0] == PROTOCOL


def test_the_newest_that_both_speak_is_used() -> None:
    assert agreed((2, 1), (3, 2)) == 2
    assert agreed((2, 1), (1,)) == 1
    assert agreed((2, 1), (4, 3)) is None
    assert agreed((2, 1), ()) is None


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (
            (4, 3),
            "the peer speaks versions 4 and 3 of the worker protocol, and this program versions 2 and 1",
        ),
        ((7,), "the peer speaks version 7 of"),
        ((), "the peer speaks no version of"),
        (range(60), "the peer speaks versions 59 and 58 and 57 and 56 of"),
    ],
)
def test_two_that_have_none_in_common_are_told_so_in_words(theirs: tuple[int, ...], words: str) -> None:
    assert nothing_in_common((2, 1), theirs).startswith(words)


def test_who_it_is_and_that_it_is_refused_can_be_read_in_any_version_and_nothing_else() -> None:
    for packet in (Hello("wrk", "run", "", "token", (9,)), Refused("why")):
        assert decode_packet(encode_packet(packet, 9), (2, 1)) == packet
    ack = Ack("run", "to", 1, again=False)
    assert decode_packet(encode_packet(ack, 1), (2, 1)) == ack
    with pytest.raises(WrongVersionError, match="9"):
        decode_packet(encode_packet(ack, 9), (2, 1))
