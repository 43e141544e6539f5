"""Background tasks of a session: what is kept and stored of them, and what they have the agent do."""

from typing import Any

import pytest

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.limits import TASK_OUTPUT_KEPT
from showcaller.actors.contract.worker import TaskEnded, TaskOutput, TaskStarted
from showcaller.actors.relay.messages import (
    Archive,
    Glance,
    IfAwake,
    Kill,
    Look,
    LookTask,
    Stopped,
    StopRunning,
    TaskTail,
    ToSession,
)
from showcaller.actors.relay.session import Session
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


def start(stage: Stage, session: str, task: str = "t1", kind: Any = "command") -> None:
    stage.workers.say(TaskStarted(session=session, task=task, type=kind, description=f"make {task}"))
    stage.settle()


def end(stage: Stage, session: str, task: str = "t1", outcome: Any = "done", **more: Any) -> None:
    stage.workers.say(TaskEnded(session=session, task=task, outcome=outcome, **more))
    stage.settle()


def write(stage: Stage, session: str, text: str, task: str = "t1") -> None:
    stage.workers.say(TaskOutput(session=session, task=task, text=text))
    stage.settle()


def look(stage: Stage, session: str) -> Glance | None:
    glance = stage.supervisor.request(IfAwake(session, Look()))
    stage.settle()
    found: Glance | None = glance.get()
    return found


def tasks(stage: Stage, session: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stage.read("load_session", session=session)["tasks"]
    return found


def rows(stage: Stage, session: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stage.read("tasks", session=session)
    return found


def kinds(stage: Stage, session: str) -> list[str]:
    return [kind for kind, _ in stage.events(session)]


def background(stage: Stage) -> tuple[str, str]:
    """Make a session whose turn is over and whose task runs."""
    session, first = stage.create()
    start(stage, session)
    stage.workers.end(first)
    stage.settle()
    return session, first


def test_a_task_is_stored_and_outlives_its_turn_with_its_session_awake(stage: Stage) -> None:
    session, first = background(stage)
    (task,) = tasks(stage, session)
    assert (task["worker_task"], task["message"], task["status"]) == ("t1", first, "running")
    assert task["id"].startswith("tsk_")
    assert stage.awake == [session]
    end(stage, session, exit_code=0)
    assert tasks(stage, session) == []
    assert kinds(stage, session) == ["turn_started", "task_started", "turn_end", "task_finished"]
    assert stage.awake == []


def test_a_task_shows_what_it_has_written_and_when_it_was_last_heard_of(stage: Stage) -> None:
    session, _ = background(stage)
    glance = look(stage, session)
    assert glance is not None
    (shown,) = glance.tasks
    assert (shown.type, shown.description, shown.has_output) == ("command", "make t1", False)
    stage.advance(90)
    write(stage, session, "\x1b[31mred")
    tail = stage.supervisor.request(IfAwake(session, LookTask(shown.id)))
    other = stage.supervisor.request(IfAwake(session, LookTask("tsk_other")))
    stage.settle()
    found: TaskTail = tail.get()
    assert (found.raw, found.cut, found.task.has_output) == ("\x1b[31mred", False, True)
    assert found.task.last_output_at - found.task.started_at == 90_000
    assert other.get() is None


def test_the_end_of_a_tasks_output_is_kept_within_bounds_and_stored_with_its_end(stage: Stage) -> None:
    session, _ = background(stage)
    for _ in range(40):
        write(stage, session, "x" * 10_000)
    write(stage, session, "the end")
    glance = look(stage, session)
    assert glance is not None
    tail = stage.supervisor.request(IfAwake(session, LookTask(glance.tasks[0].id)))
    stage.settle()
    assert tail.get().cut
    assert len(tail.get().raw) == TASK_OUTPUT_KEPT
    end(stage, session, outcome="failed", exit_code=2)
    database_row = rows(stage, session)[0]
    assert (database_row["status"], database_row["exit_code"]) == ("failed", 2)
    assert kinds(stage, session)[-1] == "task_failed"


def test_what_a_worker_says_twice_or_of_tasks_that_are_not_there_changes_nothing(stage: Stage) -> None:
    session, _ = background(stage)
    start(stage, session)
    write(stage, session, "x", "t2")
    end(stage, session, "t2")
    assert len(tasks(stage, session)) == 1
    end(stage, session, outcome="stopped")
    end(stage, session)
    start(stage, session)
    assert tasks(stage, session) == []
    assert kinds(stage, session).count("task_started") == 1
    assert kinds(stage, session).count("task_finished") == 1
    assert stage.awake == []


# -- going on by itself ----------------------------------------------------------------------------


def test_a_task_that_ends_has_the_agent_go_on_in_a_turn_that_nobody_prompted(stage: Stage) -> None:
    session, _ = background(stage)
    end(stage, session, continues=True)
    run = stage.workers.runs[-1]
    assert (run.continues, run.text) == (True, "")
    row = stage.read("message", message=run.turn)
    assert (row["kind"], row["origin"], row["status"]) == ("continuation", "task", "handed")
    stage.workers.end(run.turn, reply="the build is green")
    stage.settle()
    assert stage.read("message", message=run.turn)["reply"]["text"] == "the build is green"
    assert stage.awake == []


def test_the_agent_goes_on_after_the_turn_under_way_and_before_what_waits(stage: Stage) -> None:
    session, first = stage.create()
    stage.send(session, "second")
    start(stage, session)
    start(stage, session, "t2")
    end(stage, session, continues=True)
    end(stage, session, "t2", continues=True)
    assert len(stage.workers.runs) == 1
    stage.workers.end(first)
    stage.settle()
    assert [run.continues for run in stage.workers.runs] == [False, True]
    stage.workers.end(stage.workers.runs[-1].turn)
    stage.settle()
    assert stage.workers.texts == ["first", "", "second"]


def test_a_stop_keeps_the_agent_from_going_on_by_itself(stage: Stage) -> None:
    session, _ = background(stage)
    stage.supervisor.tell(ToSession(session, StopRunning()))
    stage.settle()
    end(stage, session, continues=True)
    assert len(stage.workers.runs) == 1
    stage.send(session, "second")
    assert [run.continues for run in stage.workers.runs] == [False, True]


def test_what_the_store_refuses_of_a_task_is_tried_again(stage: Stage) -> None:
    session, first = stage.create()
    stage.store.refusing = frozenset({"start_task"})
    start(stage, session)
    stage.workers.end(first)
    stage.settle()
    stage.advance(3)
    assert tasks(stage, session) == []
    stage.store.refusing = frozenset({"end_task", "begin_continuation"})
    stage.advance(10)
    assert len(tasks(stage, session)) == 1
    end(stage, session, continues=True)
    stage.advance(10)
    assert len(tasks(stage, session)) == 1
    assert stage.awake == [session]
    stage.store.refusing = frozenset({"begin_continuation"})
    stage.advance(60)
    assert tasks(stage, session) == []
    assert len(stage.workers.runs) == 1
    stage.store.refusing = frozenset()
    stage.advance(60)
    assert [run.continues for run in stage.workers.runs] == [False, True]


# -- ends ------------------------------------------------------------------------------------------


def test_a_session_with_a_task_is_not_archived_and_a_kill_ends_the_task(stage: Stage) -> None:
    session, _ = background(stage)
    refused = stage.supervisor.request(ToSession(session, Archive()))
    killed = stage.supervisor.request(ToSession(session, Kill()))
    stage.settle()
    with pytest.raises(Refusal, match="working"):
        refused.get()
    assert killed.get() == Stopped(requested=True)
    assert [kill.session for kill in stage.workers.kills] == [session]
    end(stage, session, outcome="stopped")
    assert stage.awake == []


def test_a_task_that_ran_when_its_relay_was_killed_is_interrupted(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, _ = background(stage)
    again = stage.again()
    assert tasks(again, session) == []
    assert kinds(again, session)[-1] == "task_failed"


def test_a_relay_closes_with_a_task_under_way(stage: Stage) -> None:
    session, _ = background(stage)
    stage.close()
    assert tasks(Stage(stage.home), session) == []


def test_what_is_told_of_tasks_while_their_session_is_down_is_not_lost(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = background(stage)
    start(stage, session, "t2")
    actor: Any = stage.supervisor._actor
    ref = actor.directory.find(session)
    with monkeypatch.context() as broken:
        broken.setattr(Session, "_requested", _fail)
        ref.tell(Look())
        while ref.is_alive():
            stage.dispatcher.step()
    stage.workers.say(TaskStarted(session=session, task="t3", type="agent", description="look"))
    stage.workers.say(TaskEnded(session=session, task="t1", outcome="done"))
    stage.settle()
    caplog.clear()
    assert {task["worker_task"] for task in tasks(stage, session)} == {"t2", "t3"}
    assert stage.awake == [session]
    end(stage, session, "t2")
    end(stage, session, "t3")
    assert kinds(stage, session).count("subagent_finished") == 1
    assert stage.awake == []


def test_a_task_that_begins_in_a_session_that_sleeps_wakes_it(stage: Stage) -> None:
    session, first = stage.create()
    stage.workers.end(first)
    stage.settle()
    assert stage.awake == []
    start(stage, session)
    assert stage.awake == [session]
    assert len(tasks(stage, session)) == 1
    end(stage, session)
    start(stage, "ses_unknown00001")
    assert stage.awake == []


def _fail(*_: Any) -> None:
    raise RuntimeError("a mistake")
