"""Prompts that an earlier relay left waiting: taken up by a relay that stays, not by one for a moment."""

import pytest

from showcaller.actors.relay.messages import Kill, ToSession
from tests.actors.relay.conftest import OpenStage


def left_waiting(open_stage: OpenStage) -> tuple[str, str]:
    """Leave a session with a prompt that waits behind one that was cut; gives both ids."""
    stage = open_stage()
    session, _ = stage.create()
    waiting = stage.send(session, "second")
    stage.settle()
    stage.drop()
    return session, waiting


def test_a_relay_that_stays_takes_up_what_waits(open_stage: OpenStage) -> None:
    _, waiting = left_waiting(open_stage)
    stage = open_stage()
    assert [run.turn for run in stage.workers.runs] == [waiting]


@pytest.mark.parametrize("done", ["nothing", "stop", "kill", "archive"])
def test_a_relay_for_a_moment_runs_nothing_that_waits_whatever_is_done_in_it(
    open_stage: OpenStage, done: str
) -> None:
    session, waiting = left_waiting(open_stage)
    stage = open_stage(takes_up=False)
    if done == "kill":
        stage.supervisor.request(ToSession(session, Kill()))
    elif done != "nothing":
        stage.call(done, session=session)
    stage.settle()
    assert stage.workers.runs == []
    status = stage.read("message", message=waiting)["status"]
    assert status == ("cancelled" if done == "archive" else "queued")


def test_a_prompt_in_it_runs_after_those_that_wait_in_its_session(open_stage: OpenStage) -> None:
    session, waiting = left_waiting(open_stage)
    stage = open_stage(takes_up=False)
    sent = stage.send(session, "third")
    stage.settle()
    stage.workers.end(waiting)
    stage.settle()
    assert [run.turn for run in stage.workers.runs] == [waiting, sent]


def test_the_next_relay_that_stays_takes_up_what_it_left(open_stage: OpenStage) -> None:
    _, waiting = left_waiting(open_stage)
    open_stage(takes_up=False).close()
    assert [run.turn for run in open_stage().workers.runs] == [waiting]
