"""What is remembered of the agents' conversations between their calls."""

from collections.abc import Callable

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.limits import CALLS_PER_MINUTE
from showcaller.actors.contract.rate import WINDOW
from showcaller.actors.relay.calls.conversations import MANY, Rates, Starting


def test_each_conversation_has_a_minute_of_its_own() -> None:
    rates = Rates()
    for _ in range(CALLS_PER_MINUTE):
        rates.admit("a", 0, write=False)
    rates.admit("b", 0, write=False)
    with pytest.raises(Refusal) as refused:
        rates.admit("a", WINDOW - 1, write=False)
    assert refused.value.code is Code.RATE_LIMITED
    rates.admit("a", WINDOW, write=False)


def test_conversations_that_were_silent_for_a_minute_are_forgotten_and_others_are_not() -> None:
    rates = Rates()
    for number in range(MANY):
        rates.admit(f"old {number}", 0, write=False)
    for _ in range(CALLS_PER_MINUTE):
        rates.admit("busy", WINDOW, write=False)
    rates.admit("another", WINDOW, write=False)
    assert set(rates._past) == {"busy", "another"}
    with pytest.raises(Refusal):
        rates.admit("busy", WINDOW, write=False)


def begin(starting: Starting, caller: str, session: str) -> Callable[[], None]:
    """Have a caller set a session to work, between whose look and this nothing happens."""
    end = starting.begin(caller, session, starting.look(caller))
    assert end is not None
    return end


def test_what_a_caller_is_about_to_start_is_told_to_those_that_come_after() -> None:
    starting = Starting()
    assert not starting.look("a").sessions
    end_first = begin(starting, "a", "x")
    assert starting.look("a").sessions == {"x"}
    end_second = begin(starting, "a", "y")
    assert not starting.look("b").sessions
    begin(starting, "b", "z")
    assert starting.look("a").sessions == {"x", "y"}
    end_first()
    end_first()
    assert starting.look("a").sessions == {"y"}
    end_second()
    assert not starting.look("a").sessions


def test_the_same_session_may_be_set_to_work_by_two_calls() -> None:
    starting = Starting()
    end_first = begin(starting, "a", "x")
    begin(starting, "a", "x")
    end_first()
    end_first()
    assert starting.look("a").sessions == {"x"}


def test_who_has_looked_before_something_changed_has_to_look_again() -> None:
    starting = Starting()
    before = starting.look("a")
    end = begin(starting, "a", "x")
    assert starting.begin("a", "y", before) is None
    between = starting.look("a")
    end()
    assert starting.begin("a", "y", between) is None
    assert starting.begin("a", "y", before) is None, "it is as before, but the store is not"
    begin(starting, "b", "z")
    assert starting.begin("a", "y", starting.look("a")) is not None


def test_who_looked_before_many_others_were_forgotten_has_to_look_again() -> None:
    starting = Starting()
    begin(starting, "a", "x")()
    before = starting.look("a")
    for number in range(2 * MANY):
        begin(starting, f"other {number}", "y")()
    assert len(starting._changes) <= MANY
    assert starting.begin("a", "z", before) is None
    assert starting.begin("a", "z", starting.look("a")) is not None


def test_a_repeat_does_not_count_what_came_after_its_first() -> None:
    starting = Starting()
    begin(starting, "a", "before")
    assert starting.begin("a", "first", starting.look("a", "one"), "one") is not None
    begin(starting, "a", "after")
    assert starting.look("a", "one").sessions == {"before"}
    assert starting.look("a", "two").sessions == {"before", "first", "after"}
