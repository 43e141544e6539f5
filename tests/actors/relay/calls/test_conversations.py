"""What is remembered of the agents' conversations between their calls."""

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


def test_what_a_caller_is_about_to_start_is_told_to_those_that_come_after() -> None:
    starting = Starting()
    none, end_first = starting.begin("a", "x")
    first, end_second = starting.begin("a", "y")
    others, _ = starting.begin("b", "z")
    assert (not none, set(first), not others) == (True, {"x"}, True)
    end_first()
    end_first()
    assert starting.begin("a", "w")[0] == {"y"}
    end_second()
    assert starting.begin("a", "v")[0] == {"w"}


def test_the_same_session_may_be_set_to_work_by_two_calls() -> None:
    starting = Starting()
    _, end_first = starting.begin("a", "x")
    starting.begin("a", "x")
    end_first()
    end_first()
    assert starting.begin("a", "y")[0] == {"x"}
