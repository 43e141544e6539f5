"""Background tasks whose worker has outlived the relay: they go on, and nothing is lost or doubled."""

from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.contract.worker import TaskEnded, TaskOutput, TaskStarted
from tests.actors.relay.stage import Stage
from tests.actors.relay.test_outliving import WORKER, Workforce, next_relay
from tests.actors.relay.test_session_tasks import end, kinds, rows, tasks, write


def with_a_task(home: Path) -> tuple[Stage, str, str]:
    """A relay whose session has answered and has a task, named as its turn."""
    stage = Stage(home, outliving=Workforce())
    session, message = stage.create("make watch &")
    say_started(stage, session, message)
    stage.workers.end(message, reply="up")
    stage.settle()
    write(stage, session, "one\n", message)
    return stage, session, message


def say_started(stage: Stage, session: str, turn: str) -> None:
    stage.workers.say(
        TaskStarted(session=session, task=turn, type="command", description="make watch &", turn=turn)
    )
    stage.settle()


def output(stage: Stage, session: str) -> dict[str, Any]:
    (task,) = rows(stage, session)
    return stage.call("read_task_output", session=session, task_id=task["id"])


def test_prompts_may_leave_tasks_behind_and_attempts_of_a_fan_out_may_not(stage: Stage) -> None:
    stage.create("make watch &")
    assert [run.background for run in stage.workers.runs] == [True]
    stage.fan_out(["a"])
    stage.settle()
    assert [run.background for run in stage.workers.runs] == [True, False]


def test_a_task_goes_on_with_the_next_relay_which_asks_for_what_it_has_written(tmp_path: Path) -> None:
    stage, session, turn = with_a_task(tmp_path)
    stage.drop()
    workforce = Workforce("wrk_000000000008", WORKER)
    stage = next_relay(tmp_path, workforce)
    assert workforce.expected == [turn]
    assert stage.awake == [session]
    assert stage.call("read_session", session=session)["state"] == "background_only"
    assert [(asked.session, asked.task) for asked in stage.workers.asked_tasks] == [(session, turn)]
    say_started(stage, session, turn)  # as it tells each relay that comes
    write(stage, session, "three\n", turn)
    stage.workers.say(
        TaskOutput(session=session, task=turn, text="one\ntwo\nthree\n", again=True, silent=150)
    )
    stage.settle()
    write(stage, session, "four\n", turn)
    told = output(stage, session)
    assert told["tail"] == ["one", "two", "three", "four"]
    end(stage, session, turn)
    assert kinds(stage, session) == ["turn_started", "task_started", "turn_end", "task_finished"]
    assert [stored.task for stored in stage.workers.stored_tasks] == [turn]
    assert stage.awake == []


def test_for_how_long_a_task_was_silent_is_known_after_a_restart(tmp_path: Path) -> None:
    stage, session, turn = with_a_task(tmp_path)
    stage.drop()
    stage = next_relay(tmp_path)
    stage.advance(3600)
    stage.workers.say(TaskOutput(session=session, task=turn, text="one\n", again=True, silent=900))
    stage.settle()
    assert output(stage, session)["stall"]["minutes"] == 15


def test_a_task_that_ended_while_no_relay_was_there_has_its_end_and_its_output(tmp_path: Path) -> None:
    stage, session, turn = with_a_task(tmp_path)
    stage.drop()
    stage = Stage(tmp_path, outliving=Workforce(), settled=False)
    stage.dispatcher.step()  # it listens, and has not looked into its store
    stage.workers.say(
        TaskStarted(session=session, task=turn, type="command", description="make watch &", turn=turn),
        TaskEnded(session=session, task=turn, outcome="done", output="one\ntwo\n"),
    )
    stage.settle()
    assert output(stage, session)["tail"] == ["one", "two"]
    assert kinds(stage, session)[-1] == "task_finished"
    assert [stored.task for stored in stage.workers.stored_tasks] == [turn]
    assert stage.awake == []


def test_a_task_that_no_relay_has_stored_is_stored_when_its_worker_tells_of_it_again(tmp_path: Path) -> None:
    stage = Stage(tmp_path, outliving=Workforce())
    session, turn = stage.create("make watch &")
    stage.workers.end(turn)
    stage.settle()
    stage.drop()
    stage = next_relay(tmp_path)
    say_started(stage, session, turn)
    (task,) = tasks(stage, session)
    assert (task["worker_task"], task["message"]) == (turn, turn)
    assert [asked.task for asked in stage.workers.asked_tasks] == [turn]
    end(stage, session, turn, output="all of it\n")
    assert output(stage, session)["tail"] == ["all of it"]


def test_what_a_task_wrote_to_a_relay_that_had_stored_nothing_of_it_is_asked_for(tmp_path: Path) -> None:
    stage = Stage(tmp_path, outliving=Workforce())
    session, turn = stage.create("make watch &")
    stage.drop()
    stage = next_relay(tmp_path)
    assert (stage.awake, stage.workers.asked_tasks) == ([session], [])
    say_started(stage, session, turn)
    assert [asked.task for asked in stage.workers.asked_tasks] == [turn]


def test_what_is_told_of_tasks_while_the_store_cannot_be_read_is_kept_until_it_can(tmp_path: Path) -> None:
    stage, session, turn = with_a_task(tmp_path)
    stage.drop()
    stage = Stage(tmp_path, outliving=Workforce(), settled=False)
    stage.reader.failing["load_session"] = OSError("the disk cannot be read")
    stage.settle()
    assert stage.awake == [session]
    say_started(stage, session, turn)
    stage.workers.say(TaskEnded(session=session, task=turn, outcome="done", output="all of it\n"))
    stage.settle()
    assert stage.workers.stored_tasks == [], "its end is not stored: its worker has to keep it"
    del stage.reader.failing["load_session"]
    stage.advance(60)
    assert [row["status"] for row in rows(stage, session)] == ["done"]
    assert output(stage, session)["tail"] == ["all of it"]
    assert [stored.task for stored in stage.workers.stored_tasks] == [turn]


def test_a_task_whose_worker_is_gone_when_the_next_relay_starts_is_interrupted(tmp_path: Path) -> None:
    stage, session, _ = with_a_task(tmp_path)
    stage.drop()
    stage = next_relay(tmp_path, Workforce("wrk_000000000008"))
    assert tasks(stage, session) == []
    assert [row["status"] for row in rows(stage, session)] == ["interrupted"]
    assert kinds(stage, session)[-1] == "task_failed"


def test_an_end_that_is_told_again_is_answered_so_that_nobody_keeps_it(tmp_path: Path) -> None:
    stage, session, turn = with_a_task(tmp_path)
    end(stage, session, turn)
    end(stage, session, turn)
    assert [stored.task for stored in stage.workers.stored_tasks] == [turn, turn]
    assert kinds(stage, session).count("task_finished") == 1
    assert stage.awake == []


def test_what_runs_for_a_session_that_is_put_away_is_ended(stage: Stage) -> None:
    session, turn = stage.create("make watch &")
    stage.workers.end(turn)
    stage.settle()
    stage.call("archive", session=session)
    say_started(stage, session, turn)
    assert [kill.session for kill in stage.workers.kills] == [session]
    assert tasks(stage, session) == []


@pytest.mark.parametrize("outcome", ["stopped", "interrupted"])
def test_a_task_that_its_worker_has_ended_says_how(tmp_path: Path, outcome: str) -> None:
    stage, session, turn = with_a_task(tmp_path)
    end(stage, session, turn, outcome, output="one\n")
    assert output(stage, session)["task"]["status"] == outcome
