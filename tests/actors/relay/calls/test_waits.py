"""Mutual waits: whoever would close a circle does not wait."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.relay.calls.waits import Waiting, Waits, chain_to
from tests.actors.relay.calls.agents import agent, end_turn, open_to_agents
from tests.actors.relay.conftest import OpenStage

NAMES = st.sampled_from("abcdef")
EDGES = st.lists(st.tuples(NAMES, NAMES), max_size=20)
NOTE = "that session is waiting for you"


@given(EDGES, NAMES, NAMES)
def test_a_chain_is_found_exactly_where_a_slow_search_finds_one(
    edges: list[tuple[str, str]], start: str, goal: str
) -> None:
    reached = {start}
    for _ in edges:
        reached |= {target for waiter, target in edges if waiter in reached}
    waits: dict[str, list[str]] = {}
    for waiter, target in edges:
        waits.setdefault(waiter, []).append(target)
    chain = chain_to(waits, start, goal)
    assert (chain is not None) == (goal in reached)
    if chain is not None:
        assert (chain[0], chain[-1]) == (start, goal)
        assert set(pairwise(chain)) <= set(edges)


@given(EDGES)
def test_those_who_wait_never_form_a_circle(edges: list[tuple[str, str]]) -> None:
    waits, kept = Waits(), []
    for waiter, target in edges:
        attempt = waits.waiting(waiter, "turn", target)
        if attempt.__enter__():
            kept.append((waiter, target, attempt))
    for waiter, target, _ in kept:
        others = {w: [t for v, t, _ in kept if v == w] for w, _, _ in kept}
        assert chain_to(others, target, waiter) is None
    for _, _, attempt in kept:
        attempt.__exit__(None, None, None)
    for waiter, target in pairwise("abcdef"):
        with waits.waiting(target, "turn", waiter) as may_wait:
            assert may_wait, "an end of waiting was not noted"


def test_who_waits_twice_waits_until_both_have_ended() -> None:
    waits = Waits()
    with waits.waiting("a", "turn", "b"):
        with waits.waiting("a", "turn", "b"):
            pass
        with waits.waiting("b", "turn", "a") as may_wait:
            assert not may_wait
    with waits.waiting("b", "turn", "a") as may_wait:
        assert may_wait


def test_what_waits_in_a_turn_that_is_over_keeps_nobody_from_waiting() -> None:
    waits = Waits()
    with waits.waiting("a", "first", "b"), waits.waiting("a", "second", "b"):
        assert waits.chain("b", "a") == (Waiting("a", "first"),)
        waits.over(Waiting("a", "first"))
        assert waits.chain("b", "a") == (Waiting("a", "second"),)
        waits.over(Waiting("a", "second"))
        assert waits.chain("b", "a") == ()
        with waits.waiting("b", "turn", "a") as may_wait:
            assert may_wait
    with waits.waiting("a", None, "b"):
        assert waits.chain("b", "a") == ()


def test_the_owner_may_wait_for_anybody() -> None:
    waits = Waits()
    with waits.waiting("a", "turn", "b"), waits.waiting(None, None, "a") as may_wait:
        assert may_wait


@pytest.mark.parametrize("action", ["send", "wait"])
def test_a_call_whose_target_waits_for_the_caller_returns_at_once(open_stage: OpenStage, action: str) -> None:
    stage = open_to_agents(open_stage)
    first, second = agent(stage, "first"), agent(stage, "second")
    if action == "send":
        more = {"session": first.session, "text": "and you?"}
    else:
        more = {"session": first.session, "message_id": next(iter(stage.workers.open))}
    waiting = first.begin("send", session=second.session, text="ask", wait_seconds=60)
    stage.settle()
    found = second.call(action, wait_seconds=60, **more)
    assert found["status"] in {"queued", "running"}
    assert NOTE in found["note"]
    assert not waiting.done
    end_turn(stage, second.session)
    end_turn(stage, second.session, reply="answer")
    assert waiting.get()["reply"]["text"] == "answer"


def test_a_circle_is_found_over_any_chain_and_is_gone_with_a_wait_in_it(open_stage: OpenStage) -> None:
    stage = open_to_agents(open_stage)
    chain = [agent(stage, str(number)) for number in range(4)]
    calls = [
        one.begin("send", session=other.session, text="ask", wait_seconds=30)
        for one, other in pairwise(chain)
    ]
    stage.settle()
    assert not any(call.done for call in calls)
    closing = chain[3].call("send", session=chain[0].session, text="back", wait_seconds=30)
    assert NOTE in closing["note"]
    stage.advance(31)
    assert [NOTE in call.get().get("note", "") for call in calls] == [False] * 3
    later = chain[3].begin("send", session=chain[0].session, text="back", wait_seconds=30)
    stage.settle()
    assert not later.done


def test_a_started_session_may_be_waited_for_by_its_starter(open_stage: OpenStage) -> None:
    stage = open_to_agents(open_stage)
    starter = agent(stage)
    made = starter.begin("create_session", text="help", wait_seconds=30)
    stage.settle()
    assert not made.done
    (session,) = (row["id"] for row in starter.call("list_sessions")["sessions"] if row["startedByYou"])
    assert starter.start() != session
    end_turn(stage, session, reply="helped")
    assert made.get()["reply"]["text"] == "helped"
    assert "note" not in made.get()


@pytest.mark.parametrize("how", ["ended", "stopped", "asked to stop"])
def test_a_call_of_a_turn_that_is_over_does_not_wait_any_more(open_stage: OpenStage, how: str) -> None:
    stage = open_to_agents(open_stage)
    first, second, third = agent(stage, "first"), agent(stage, "second"), agent(stage, "third")
    calls = [
        first.begin("send", session=second.session, text="ask", wait_seconds=500),
        second.begin("send", session=third.session, text="ask", wait_seconds=500),
    ]
    stage.settle()
    stage.workers.obedient = how == "stopped"
    if how in {"stopped", "asked to stop"}:
        stage.stop(second.session)
        stage.settle()
    else:
        end_turn(stage, second.session)
    stage.advance(61)
    later = third.begin("send", session=first.session, text="and you?", wait_seconds=400)
    stage.settle()
    assert not later.done, "the chain is broken where a turn is over"
    assert not any(call.done for call in calls)


def test_a_later_turn_of_a_session_does_not_wait_for_what_an_earlier_asked(open_stage: OpenStage) -> None:
    stage = open_to_agents(open_stage)
    first, second = agent(stage, "first"), agent(stage, "second")
    stage.send(first.session, "next")
    first.begin("send", session=second.session, text="ask", wait_seconds=500)
    stage.settle()
    end_turn(stage, first.session)
    assert stage.workers.texts[-1] == "next"
    later = second.begin("send", session=first.session, text="and you?", wait_seconds=400)
    stage.settle()
    assert not later.done
    stage.advance(61)
    closing = first.call("send", session=second.session, text="I too", wait_seconds=400)
    assert NOTE in closing["note"], "second waits for it now"
