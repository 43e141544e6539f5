"""Steering and background tasks, as callers see them."""

from typing import Any

import pytest

from showcaller.actors.contract.worker import TaskEnded, TaskOutput, TaskStarted
from tests.actors.relay.calls.agents import open_to_agents
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

MINUTES = 60.0


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_to_agents(open_stage)


def begin_task(stage: Stage, session: str, name: str = "bg-1", **more: Any) -> None:
    """Have the worker say that something runs in the background."""
    told: dict[str, Any] = {"type": "command", "description": "pytest -q", **more}
    stage.workers.say(TaskStarted(session=session, task=name, **told))
    stage.settle()


def write(stage: Stage, session: str, text: str, name: str = "bg-1") -> None:
    stage.workers.say(TaskOutput(session=session, task=name, text=text))
    stage.settle()


def end_task(stage: Stage, session: str, outcome: Any = "done", name: str = "bg-1", **more: Any) -> None:
    stage.workers.say(TaskEnded(session=session, task=name, outcome=outcome, **more))
    stage.settle()


def task_id(stage: Stage, session: str) -> str:
    """Give the id of the session's one task."""
    (task,) = stage.call("read_session", session=session)["tasks"]
    found: str = task["id"]
    return found


# -- steering --------------------------------------------------------------------------------------


def test_a_message_that_joins_a_running_turn_ends_with_it_and_says_so(stage: Stage) -> None:
    stage.workers.on_steer = lambda _: None
    session, first = stage.create(provider="joiner")
    call = stage.begin("send", session=session, text="and this", wait_seconds=60)
    stage.settle()
    (steer,) = stage.workers.steers
    stage.workers.answer_steering(steer, accepted=True)
    stage.settle()
    assert not call.done
    shown = stage.call("wait", session=session, message_id=steer.message, wait_seconds=0)
    assert (shown["status"], shown["steered"]) == ("running", True)
    stage.workers.end(first, reply="both done")
    stage.settle()
    told = call.get()
    assert (told["status"], told["steered"], told["reply"]["text"]) == ("done", True, "both done")
    later = stage.call("wait", session=session, message_id=steer.message)
    assert (later["status"], later["steered"], later["reply"]) == ("done", True, told["reply"])


def test_a_message_that_waited_has_not_joined(stage: Stage) -> None:
    stage.workers.on_steer = lambda _: None
    session, first = stage.create(provider="joiner")
    call = stage.begin("send", session=session, text="and this", wait_seconds=60)
    stage.settle()
    (steer,) = stage.workers.steers
    stage.workers.answer_steering(steer, accepted=False)
    stage.settle()
    stage.workers.end(first)
    stage.settle()
    stage.workers.end(steer.message, reply="in a turn of its own")
    stage.settle()
    assert "steered" not in call.get()
    assert call.get()["reply"]["text"] == "in a turn of its own"


# -- states ----------------------------------------------------------------------------------------


def test_an_answered_session_with_a_task_is_background_only_and_its_prompt_is_running(stage: Stage) -> None:
    session, message = stage.create()
    begin_task(stage, session)
    call = stage.begin("wait", session=session, message_id=message, wait_seconds=60)
    stage.settle()
    stage.workers.end(message, reply="I started it.")
    stage.settle()
    told = call.get()
    assert (told["status"], told["reply"]["text"]) == ("running", "I started it.")
    assert "stopReason" not in told
    assert told["background"]["running"] == 1
    assert told["background"]["tasks"][0]["description"] == "pytest -q"
    assert "read_task_output" in told["note"]
    listed = stage.call("list_sessions", scope="active")["sessions"][0]
    read = stage.call("read_session", session=session)
    assert (listed["state"], read["state"]) == ("background_only", "background_only")
    assert listed["tasks"] == read["tasks"] == told["background"]["tasks"]
    end_task(stage, session)
    assert stage.call("wait", session=session, message_id=message)["status"] == "done"
    assert stage.call("read_session", session=session)["state"] == "idle"


def test_the_tasks_of_another_turn_keep_no_prompt_running(stage: Stage) -> None:
    session, first = stage.create()
    stage.workers.end(first)
    stage.settle()
    second = stage.send(session, "second")
    begin_task(stage, session)
    stage.workers.end(second)
    stage.settle()
    statuses = [
        stage.call("wait", session=session, message_id=message)["status"] for message in (first, second)
    ]
    assert statuses == ["done", "running"]


def test_a_session_with_a_task_is_not_archived_and_a_stop_says_what_it_did(stage: Stage) -> None:
    session, message = stage.create()
    begin_task(stage, session)
    stage.workers.end(message)
    stage.settle()
    assert stage.call("archive", session=session)["code"] == "REMOTE_RELAY_BUSY"
    assert stage.call("stop", session=session)["stopRequested"] is False


# -- reading their output --------------------------------------------------------------------------


def test_what_a_task_writes_is_read_as_plain_text_with_its_silence(stage: Stage) -> None:
    session, _ = stage.create()
    begin_task(stage, session)
    write(stage, session, "\x1b[32mone\x1b[0m\r\nsame\nsame\nsame\n")
    stage.advance(11 * MINUTES)
    read = stage.call("read_task_output", session=session, task_id=task_id(stage, session))
    assert read["tail"] == ["one", "same [×3]"]
    assert read["truncated"] is False
    assert read["task"] == {
        "id": task_id(stage, session),
        "description": "pytest -q",
        "type": "command",
        "status": "running",
        "exitCode": None,
        "startedAt": read["task"]["startedAt"],
    }
    assert {name: read["stall"][name] for name in ("minutes", "quiet", "quietAfterMinutes")} == {
        "minutes": 11,
        "quiet": True,
        "quietAfterMinutes": 10,
    }
    (task,) = stage.call("read_session", session=session)["tasks"]
    assert task["health"] == {"minutesSinceOutput": 11, "quiet": True, "quietAfterMinutes": 10}


def test_a_task_that_has_written_nothing_yet_says_so(stage: Stage) -> None:
    session, _ = stage.create()
    begin_task(stage, session)
    read = stage.call("read_task_output", session=session, task_id=task_id(stage, session))
    assert read["tail"] == []
    assert "again in a few seconds" in read["note"]
    (task,) = stage.call("read_session", session=session)["tasks"]
    assert task["output"] is False


def test_the_last_lines_come_and_more_on_request(stage: Stage) -> None:
    session, _ = stage.create()
    begin_task(stage, session)
    write(stage, session, "".join(f"line {number}\n" for number in range(80)))
    task = task_id(stage, session)
    read = stage.call("read_task_output", session=session, task_id=task)
    assert (len(read["tail"]), read["tail"][-1], read["truncated"]) == (50, "line 79", True)
    read = stage.call("read_task_output", session=session, task_id=task, lines=500)
    assert (len(read["tail"]), read["truncated"]) == (80, False)


def test_the_counts_of_a_test_run_are_told(stage: Stage) -> None:
    session, _ = stage.create()
    begin_task(stage, session)
    write(stage, session, "....F\n========= 1 failed, 4 passed, 2 skipped in 0.12s =========\n")
    read = stage.call("read_task_output", session=session, task_id=task_id(stage, session), lines=1)
    counts = {"runner": "pytest", "passed": 4, "failed": 1, "skipped": 2, "final": True}
    assert read["counts"] == counts
    (task,) = stage.call("read_session", session=session)["tasks"]
    assert task["counts"] == counts


def test_the_output_of_an_ended_task_is_read_for_an_hour(stage: Stage) -> None:
    session, message = stage.create()
    begin_task(stage, session)
    write(stage, session, "the end\n")
    task = task_id(stage, session)
    end_task(stage, session, "failed", exit_code=3)
    stage.workers.end(message)
    stage.settle()
    read = stage.call("read_task_output", session=session, task_id=task)
    assert (read["tail"], read["task"]["status"], read["task"]["exitCode"]) == (["the end"], "failed", 3)
    assert "stall" not in read
    stage.advance(59 * MINUTES)
    assert stage.call("read_task_output", session=session, task_id=task)["ok"]
    stage.advance(1 * MINUTES)
    refused = stage.call("read_task_output", session=session, task_id=task)
    assert (refused["code"], refused["missing"]) == ("REMOTE_RELAY_NOT_FOUND", [task])
    assert stage.call("read_session", session=session)["tasks"] == []


@pytest.mark.parametrize("task", ["tsk_000000000000", "nonsense", "bg-1"])
def test_a_task_that_is_not_there_is_not_found(stage: Stage, task: str) -> None:
    session, _ = stage.create()
    begin_task(stage, session)
    refused = stage.call("read_task_output", session=session, task_id=task)
    assert (refused["code"], refused["missing"]) == ("REMOTE_RELAY_NOT_FOUND", [task])


def test_a_task_of_another_session_is_not_found(stage: Stage) -> None:
    session, _ = stage.create()
    other, _ = stage.create()
    begin_task(stage, session)
    task = task_id(stage, session)
    assert stage.call("read_task_output", session=other, task_id=task)["code"] == "REMOTE_RELAY_NOT_FOUND"
    end_task(stage, session)
    assert stage.call("read_task_output", session=other, task_id=task)["code"] == "REMOTE_RELAY_NOT_FOUND"
