"""Waiting in a relay that only reads: it looks in the store, as no session tells it anything."""

from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.worker import TaskStarted
from showcaller.actors.relay.calls.outcomes import LONGEST_PAUSE, look_again_after
from showcaller.actors.relay.views import turn_seconds
from tests.actors.relay.conftest import OpenStage


@given(st.floats(0, 1e6))
def test_it_looks_again_soon_and_a_long_wait_costs_few_looks(waited: float) -> None:
    assert 0 < look_again_after(waited) <= LONGEST_PAUSE
    assert look_again_after(waited) <= max(0.02, waited / 10)


def test_a_wait_beside_a_running_relay_waits_for_the_end(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, first = stage.create()
    second = stage.send(session, "second")
    looking = open_stage(read_only=True)
    waits = [
        looking.begin("wait", session=session, message_id=message, wait_seconds=30)
        for message in (first, second)
    ]
    looking.settle()
    looking.advance(10)
    assert not any(wait.done for wait in waits)
    stage.workers.end(first, reply="late")
    stage.settle()
    looking.advance(LONGEST_PAUSE)
    assert waits[0].get()["reply"]["text"] == "late"
    assert not waits[1].done
    looking.advance(20)
    assert waits[1].get()["status"] == "running"


def test_a_wait_of_no_time_and_for_what_has_ended_does_not_wait(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, first = stage.create()
    looking = open_stage(read_only=True)
    assert looking.call("wait", session=session, message_id=first, wait_seconds=0)["status"] == "running"
    stage.workers.end(first)
    stage.settle()
    assert looking.call("wait", session=session, message_id=first, wait_seconds=30)["status"] == "done"
    other, _ = stage.create()
    refused = looking.call("wait", session=other, message_id=first, wait_seconds=30)
    assert refused["code"] == "REMOTE_RELAY_NOT_FOUND"


def test_where_no_relay_runs_nothing_is_waited_for_and_the_note_says_why(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, first = stage.create()
    second = stage.send(session, "second")
    looking = open_stage(read_only=True, relay_runs=lambda: False)
    cut = looking.call("wait", session=session, message_id=first, wait_seconds=30)
    assert (cut["status"], cut["stopReason"]) == ("failed", "interrupted")
    queued = looking.call("wait", session=session, message_id=second, wait_seconds=30)
    assert queued["status"] == "queued"
    assert "No relay runs" in queued["note"]


def test_closing_the_reading_relay_ends_the_wait(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, first = stage.create()
    looking = open_stage(read_only=True)
    waiting = looking.begin("wait", session=session, message_id=first, wait_seconds=300)
    looking.settle()
    looking.ask_close()
    looking.advance(LONGEST_PAUSE)
    assert waiting.get()["code"] == "REMOTE_RELAY_UNAVAILABLE"


def test_where_no_relay_runs_a_task_that_ran_is_interrupted(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, first = stage.create()
    stage.workers.say(TaskStarted(session=session, task="t1", type="command", description="make"))
    stage.workers.end(first, reply="left it")
    stage.settle()
    looking = open_stage(read_only=True, relay_runs=lambda: False)
    (task,) = looking.call("read_session", session=session)["tasks"]
    assert task["status"] == "interrupted"
    read = looking.call("read_task_output", session=session, task_id=task["id"])
    assert read["task"]["status"] == "interrupted"


def test_how_long_a_turn_ran_is_told_to_the_millisecond(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, first = stage.create()
    stage.workers.end(first, reply="x", seconds=1.20449)
    stage.settle()
    assert stage.call("wait", session=session, message_id=first, wait_seconds=0)["seconds"] == 1.204
    assert [turn_seconds(each) for each in (None, 0.0, 0.0001, 2.0)] == [None, None, 0.001, 2.0]
