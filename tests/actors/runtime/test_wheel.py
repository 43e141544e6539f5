"""The timing wheel against a sorted list."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.runtime.wheel import Wheel


@dataclass
class Thing:
    """Something that is due."""

    due: float
    number: int
    active: bool = True


# Near and far, on and beside the borders of ticks and buckets, and equal ones.
moments = st.one_of(
    st.integers(0, 64 * 64 * 64).map(lambda ticks: ticks / 256),
    st.floats(0, 3),
    st.floats(0, 1e9),
    st.sampled_from([0.0, 1.0, 16.0, 64 / 256, 4096 / 256]),
)


@given(
    rounds=st.lists(
        st.tuples(st.lists(moments, max_size=20), st.floats(0, 5) | st.floats(0, 1e8)), max_size=12
    ),
    cancelled=st.sets(st.integers(0, 100)),
    most=st.sampled_from([1, 7, 1_000]),
)
def test_things_come_out_in_order_of_time_and_then_of_adding(
    rounds: list[tuple[list[float], float]], cancelled: set[int], most: int
) -> None:
    wheel: Wheel[Thing] = Wheel()
    held: list[Thing] = []
    now, number = 0.0, 0
    for delays, passing in rounds:
        for delay in delays:
            thing = Thing(now + delay, number)
            number += 1
            held.append(thing)
            wheel.add(thing)
            thing.active = thing.number not in cancelled
        held.sort(key=lambda thing: thing.due)
        active = [thing for thing in held if thing.active]
        assert wheel.exact() == (active[0].due if active else None)
        early = wheel.earliest()
        assert not active or (early is not None and early <= active[0].due)
        now += passing
        out: list[Thing] = []
        while taken := wheel.take_due(now, most):
            assert len(taken) <= most
            out += taken
        assert [thing for thing in out if thing.active] == [thing for thing in active if thing.due <= now]
        held = [thing for thing in held if thing.due > now]
    wheel.sweep()
    assert wheel.size == sum(thing.active for thing in held)


def test_what_is_swept_is_forgotten_and_the_rest_stays() -> None:
    wheel: Wheel[Thing] = Wheel()
    things = [Thing(number / 10, number) for number in range(10_000)]
    for thing in things:
        wheel.add(thing)
        thing.active = thing.number % 10 == 0
    assert wheel.size == 10_000
    wheel.sweep()
    assert wheel.size == 1_000
    assert [thing.number for thing in wheel.take_due(1e6, 10_000)] == list(range(0, 10_000, 10))
    assert wheel.size == 0
    assert wheel.earliest() is None
