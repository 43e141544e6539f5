"""What runs in the background of a session: begun once, ended once, and told."""

from typing import Any

import pytest

from tests.store.desk import Desk


def task_of(name: str, **more: Any) -> dict[str, Any]:
    """Make a background task called ``name``."""
    return {
        "id": f"tsk_{name}",
        "session": "ses_a",
        "worker_task": name,
        "type": "command",
        "description": f"run {name}",
        **more,
    }


def end_of(name: str, status: str = "done", **more: Any) -> dict[str, Any]:
    """Make the arguments of an ``end_task``."""
    return {"task": f"tsk_{name}", "status": status, "exit_code": None, "tail": None, "at": 5_000, **more}


def told(desk: Desk) -> list[tuple[Any, ...]]:
    """List the events in order."""
    return desk.rows("SELECT kind, at, message, task, text FROM event ORDER BY cursor")


@pytest.fixture(autouse=True)
def session(desk: Desk) -> None:
    """Have a session."""
    desk.session("a")


def test_a_task_runs_from_its_start_to_its_end(desk: Desk) -> None:
    desk.value("start_task", task=task_of("t", message="msg_m"), at=2_000)
    (running,) = desk.read("load_session", session="ses_a")["tasks"]
    assert running == {
        **task_of("t", message="msg_m"),
        "status": "running",
        "exit_code": None,
        "started_at": 2_000,
        "ended_at": None,
        "tail": None,
    }
    ended = desk.value("end_task", **end_of("t", exit_code=0, tail="\x1b[1mok\x1b[0m\n"))
    assert desk.read("load_session", session="ses_a")["tasks"] == []
    assert desk.rows("SELECT status, exit_code, ended_at, tail FROM task") == [
        ("done", 0, 5_000, "\x1b[1mok\x1b[0m\n")
    ]
    assert told(desk) == [
        ("task_started", 2_000, "msg_m", "tsk_t", "run t"),
        ("task_finished", 5_000, "msg_m", "tsk_t", "run t"),
    ]
    assert len(ended["events"]) == 1
    assert desk.read("load_session", session="ses_a")["last_activity_at"] == 5_000


@pytest.mark.parametrize(
    ("kind", "status", "exit_code", "events"),
    [
        ("command", "done", 0, ["task_finished"]),
        ("command", "done", 1, ["task_failed"]),
        ("monitor", "failed", None, ["task_failed"]),
        ("command", "interrupted", None, ["task_failed"]),
        ("command", "stopped", -15, ["task_finished"]),
        ("agent", "done", None, ["subagent_finished"]),
        ("agent", "stopped", None, ["subagent_finished"]),
        ("agent", "failed", None, ["task_failed", "subagent_finished"]),
    ],
)
def test_an_end_is_told_by_what_ended_and_how(
    desk: Desk, kind: str, status: str, exit_code: int | None, events: list[str]
) -> None:
    desk.value("start_task", task=task_of("t", type=kind), at=2_000)
    desk.value("end_task", **end_of("t", status, exit_code=exit_code))
    assert [row[0] for row in told(desk)[1:]] == events


def test_a_task_that_its_worker_tells_twice_is_one(desk: Desk) -> None:
    desk.value("start_task", task=task_of("t"), at=2_000)
    again = {**task_of("t"), "id": "tsk_again"}
    assert desk.value("start_task", task=again, at=3_000) == {"duplicate": "tsk_t"}
    assert desk.rows("SELECT id, started_at FROM task") == [("tsk_t", 2_000)]
    assert len(told(desk)) == 1


def test_a_task_ends_once(desk: Desk) -> None:
    desk.value("start_task", task=task_of("t"), at=2_000)
    desk.value("end_task", **end_of("t"))
    assert desk.conflict("end_task", **end_of("t", "failed")) == "ended"
    assert desk.conflict("end_task", **end_of("x")) == "missing"
    assert [row[0] for row in told(desk)] == ["task_started", "task_finished"]


@pytest.mark.parametrize("status", ["running", "cancelled"])
def test_a_task_ends_only_in_an_end(desk: Desk, status: str) -> None:
    desk.value("start_task", task=task_of("t"), at=2_000)
    assert desk.one("end_task", **end_of("t", status)).error == "fault"


def test_a_task_needs_an_open_session(desk: Desk) -> None:
    assert desk.conflict("start_task", task=task_of("t", session="ses_x"), at=2_000) == "missing"
    desk.value("archive_session", session="ses_a", at=1_500)
    assert desk.conflict("start_task", task=task_of("t"), at=2_000) == "archived"
    assert desk.one("start_task", task=task_of("t", status="done"), at=2_000).error == "fault"


def test_a_session_with_a_running_task_is_active(desk: Desk) -> None:
    desk.session("b")
    desk.value("start_task", task=task_of("t"), at=2_000)
    assert [row["id"] for row in desk.read("list_sessions", scope="active")["sessions"]] == ["ses_a"]
    desk.value("end_task", **end_of("t"))
    assert desk.read("list_sessions", scope="active")["sessions"] == []


def test_tasks_end_with_the_relay_whose_workers_ran_them(desk: Desk) -> None:
    desk.value("start_task", task=task_of("t"), at=2_000)
    desk.value("start_task", task=task_of("done"), at=2_000)
    desk.value("end_task", **end_of("done"))
    desk.value("interrupt_turns", at=9_000)
    assert desk.rows("SELECT id, status, ended_at FROM task ORDER BY id") == [
        ("tsk_done", "done", 5_000),
        ("tsk_t", "interrupted", 9_000),
    ]
    assert told(desk)[-1][:2] == ("task_failed", 9_000)
    desk.value("interrupt_turns", at=9_500)
    assert told(desk)[-1][:2] == ("task_failed", 9_000)


def test_a_task_whose_worker_has_outlived_the_relay_goes_on(desk: Desk) -> None:
    for name in ("spared", "cut"):
        desk.value("start_task", task=task_of(name), at=2_000)
    desk.value("interrupt_turns", at=9_000, spare_tasks=["tsk_spared"])
    assert desk.rows("SELECT id, status FROM task ORDER BY id") == [
        ("tsk_cut", "interrupted"),
        ("tsk_spared", "running"),
    ]
