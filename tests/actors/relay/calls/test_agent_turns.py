"""A call of an agent ends with the turn that it was made in."""

from typing import Any

import pytest

from showcaller.actors.contract.worker import TaskEnded, TaskStarted
from showcaller.actors.relay.calls import ActRequest, Caller
from showcaller.actors.relay.messages import IfAwake, Look
from showcaller.actors.relay.session import Session
from showcaller.actors.runtime import Future
from tests.actors.relay.calls.agents import end_turn, open_to_agents
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_to_agents(open_stage)


def waits_for_another(stage: Stage) -> tuple[Caller, "Future[Any]"]:
    """Have an agent wait for the turn of a session that the owner started; gives it and its call."""
    other, message = stage.create(provider="helper")
    session, turn = stage.create("work", provider="helper")
    caller = Caller("agent", session, turn=turn)
    return caller, waits(stage, caller, other, message)


def waits(stage: Stage, caller: Caller, session: str, message: str) -> "Future[Any]":
    waiting = stage.begin("wait", None, caller, session=session, message_id=message, wait_seconds=600)
    stage.settle()
    assert not waiting.done
    return waiting


@pytest.mark.parametrize("outcome", ["done", "failed"])
def test_it_is_ended_with_the_turn(stage: Stage, outcome: Any) -> None:
    caller, waiting = waits_for_another(stage)
    end_turn(stage, str(caller.session), outcome=outcome)
    assert waiting.get()["code"] == "REMOTE_RELAY_CANCELLED"
    assert "turn" in waiting.get()["error"]


@pytest.mark.parametrize("act", ["stop", "kill"])
def test_it_is_ended_when_the_turn_is_stopped_or_its_process_killed(stage: Stage, act: Any) -> None:
    caller, waiting = waits_for_another(stage)
    if act == "stop":
        assert stage.call("stop", session=caller.session)["stopRequested"]
    else:
        killed = stage.door._request(ActRequest("kill", caller.session))
        stage.settle()
        assert killed.get()["ok"]
    assert waiting.get()["code"] == "REMOTE_RELAY_CANCELLED"


def test_the_calls_of_other_turns_go_on(stage: Stage) -> None:
    caller, waiting = waits_for_another(stage)
    third, _ = waits_for_another(stage)
    end_turn(stage, str(third.session))
    assert not waiting.done
    end_turn(stage, str(caller.session))
    assert waiting.done


def test_it_goes_on_while_the_turn_has_a_background_task(stage: Stage) -> None:
    caller, waiting = waits_for_another(stage)
    session = str(caller.session)
    stage.workers.say(TaskStarted(session=session, task="t1", type="command", description="make"))
    stage.settle()
    end_turn(stage, session)
    assert not waiting.done
    later = waits(stage, caller, *stage.create(provider="helper"))
    stage.workers.say(TaskEnded(session=session, task="t1", outcome="done"))
    stage.settle()
    assert (waiting.get()["code"], later.get()["code"]) == ("REMOTE_RELAY_CANCELLED",) * 2


def test_it_is_ended_only_when_the_end_of_the_turn_is_stored(stage: Stage) -> None:
    caller, waiting = waits_for_another(stage)
    stage.store.refusing = frozenset({"end_turn"})
    end_turn(stage, str(caller.session))
    assert not waiting.done, "the store has the turn with its worker still, so the token is good"
    stage.store.refusing = frozenset()
    stage.advance(60)
    assert waiting.done


def test_a_call_that_ends_first_has_its_answer_and_leaves_nobody_waiting(stage: Stage) -> None:
    session, turn = stage.create("work", provider="helper")
    told = stage.call("list_sessions", None, Caller("agent", session, turn=turn))
    assert told["ok"]
    end_turn(stage, session)
    assert told["ok"]


def test_a_call_of_a_turn_that_is_over_is_ended_at_once(stage: Stage) -> None:
    session, turn = stage.create("work", provider="helper")
    end_turn(stage, session)
    other, message = stage.create(provider="helper")
    waiting = stage.begin(
        "wait", None, Caller("agent", session, turn=turn), session=other, message_id=message, wait_seconds=600
    )
    stage.settle()
    assert waiting.get()["code"] == "REMOTE_RELAY_CANCELLED"


def test_it_outlives_a_failure_of_the_callers_session(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, waiting = waits_for_another(stage)
    original, faults = Session._requested, [RuntimeError("a mistake of ours")]

    def requested(session: Session, message: Any, reply: Any) -> None:
        if faults:
            raise faults.pop()
        original(session, message, reply)

    monkeypatch.setattr(Session, "_requested", requested)
    stage.supervisor.tell(IfAwake(str(caller.session), Look()))
    stage.settle()
    caplog.clear()
    assert not waiting.done
    end_turn(stage, str(caller.session))
    assert waiting.get()["code"] == "REMOTE_RELAY_CANCELLED"
