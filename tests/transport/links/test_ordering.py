"""Arrivals: each frame once, in order, whatever the link does to them."""

from hypothesis import given
from hypothesis import strategies as st

from showcaller.transport.links.ordering import Arrivals, Gap
from showcaller.transport.wire.frames import Frame


def frame(number: int) -> Frame:
    return Frame("k", number, "", None)


def taken(arrivals: Arrivals, numbers: list[int]) -> list[int]:
    return [due.number for number in numbers for due in arrivals.take(frame(number))[0]]


@given(st.permutations(range(1, 30)), st.lists(st.integers(1, 29)))
def test_delayed_doubled_and_reordered_frames_come_out_once_and_in_order(
    order: list[int], again: list[int]
) -> None:
    assert taken(Arrivals(), [*order, *again]) == list(range(1, 30))


@given(st.lists(st.integers(1, 40), max_size=120), st.integers(1, 5))
def test_with_little_room_nothing_is_doubled_or_overtakes_and_a_repeat_completes_it(
    order: list[int], room: int
) -> None:
    arrivals = Arrivals(held_limit=room)
    came = taken(arrivals, order)
    assert came == list(range(1, len(came) + 1))
    came += taken(arrivals, list(range(1, 41)))
    assert came == list(range(1, 41))


def test_a_gap_is_reported_once_with_its_first_and_last_number() -> None:
    arrivals = Arrivals()
    assert arrivals.take(frame(1)) == ([frame(1)], None)
    assert arrivals.take(frame(4)) == ([], Gap(2, 3))
    assert arrivals.take(frame(5)) == ([], None)
    assert arrivals.take(frame(7)) == ([], Gap(6, 6))
    assert arrivals.take(frame(3)) == ([], None)
    assert arrivals.take(frame(2)) == ([frame(2), frame(3), frame(4), frame(5)], None)


def test_a_frame_that_finds_no_room_belongs_to_the_gap() -> None:
    arrivals = Arrivals(held_limit=1)
    assert arrivals.take(frame(2)) == ([], Gap(1, 1))
    assert arrivals.take(frame(3)) == ([], Gap(3, 3))
    assert arrivals.take(frame(1)) == ([frame(1), frame(2)], None)
    assert arrivals.take(frame(3)) == ([frame(3)], None)
