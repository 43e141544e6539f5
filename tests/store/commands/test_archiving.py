"""Putting sessions away: archived, or deleted with what they said."""

from typing import Any

import pytest

from tests.store.commands.test_tasks import end_of, task_of
from tests.store.desk import Desk, ending, message_of


def test_archiving_cancels_what_waits_and_takes_no_prompts(desk: Desk) -> None:
    desk.session("a", "m0", "m1")
    assert desk.value("archive_session", session="ses_a", at=5_000) == {"cancelled": ["msg_m0", "msg_m1"]}
    assert desk.read("unfinished") == []
    assert desk.read("message", message="msg_m1")["status"] == "cancelled"
    assert desk.conflict("accept_message", message=message_of("m2", session="ses_a")) == "archived"
    assert desk.conflict("archive_session", session="ses_a", at=6_000) == "archived"
    assert desk.rows("SELECT kind, at FROM event WHERE session = 'ses_a'") == [("archived", 5_000)]


def test_a_session_at_work_is_not_archived(desk: Desk) -> None:
    desk.handed("a", "m")
    assert desk.conflict("archive_session", session="ses_a", at=5_000) == "busy"
    assert desk.conflict("archive_session", session="ses_x", at=5_000) == "missing"


@pytest.mark.parametrize("command", ["archive_session", "delete_session"])
def test_a_session_with_a_running_task_stays(desk: Desk, command: str) -> None:
    desk.session("a")
    desk.value("start_task", task=task_of("t"), at=2_000)
    assert desk.conflict(command, session="ses_a", at=5_000) == "busy"
    desk.value("end_task", **end_of("t"))
    assert desk.value(command, session="ses_a", at=6_000) == {"cancelled": []}


def secretive(desk: Desk) -> None:
    """Have a session that has said things which nobody shall find, and whose turn has ended."""
    desk.value("create_group", group="grp_a", name="Reviews", origin="owner", at=5)
    desk.session("a", title="secret title", cwd="/secret", group="grp_a")
    said: dict[str, Any] = {"text": "secret text", "item": '"secret item"', "via": '"secret via"'}
    desk.value("accept_message", message=message_of("m", session="ses_a", **said))
    desk.value("hand_over", message="msg_m", worker="wrk_1", at=2_000)
    reply = {"id": "msg_r", "text": "secret reply", "truncated": False}
    desk.value("end_turn", **ending("m", status="failed", error_text="secret error", reply=reply))
    desk.value("start_task", task=task_of("t", description="secret task"), at=2_000)
    desk.value("end_task", **end_of("t", tail="secret output"))
    desk.value("accept_message", message=message_of("waits", session="ses_a", text="secret wish"))


def test_deleting_leaves_a_tombstone_that_says_nothing(desk: Desk) -> None:
    secretive(desk)
    assert desk.value("delete_session", session="ses_a", at=5_000) == {"cancelled": ["msg_waits"]}
    for table in ("session", "message", "task", "event", "session_group", "outbox", "client_id"):
        assert "secret" not in repr(desk.rows(f"SELECT * FROM {table}"))
    session = desk.read("load_session", session="ses_a")
    assert (session["deleted_at"], session["archived_at"], session["group"]) == (5_000, 5_000, None)
    assert desk.read("message", message="msg_waits")["status"] == "cancelled"
    assert desk.read("message", message="msg_m")["status"] == "failed"
    assert desk.rows("SELECT kind, at, text FROM event ORDER BY cursor DESC LIMIT 1") == [
        ("archived", 5_000, "deleted")
    ]


def test_a_deleted_session_is_in_no_list_and_found_by_its_whole_id_alone(desk: Desk) -> None:
    secretive(desk)
    desk.session("abc")
    desk.value("delete_session", session="ses_a", at=5_000)
    for scope in ("active", "recent", "all"):
        assert "ses_a" not in {row["id"] for row in desk.read("list_sessions", scope=scope)["sessions"]}
    assert desk.read("find_session", prefix="ses_") == ["ses_abc"]
    assert desk.read("find_session", prefix="ses_a") == ["ses_a", "ses_abc"]


def test_a_deleted_session_takes_nothing_more(desk: Desk) -> None:
    desk.session("a")
    desk.value("archive_session", session="ses_a", at=4_000)
    desk.value("delete_session", session="ses_a", at=5_000)
    session = desk.read("load_session", session="ses_a")
    assert (session["archived_at"], session["deleted_at"]) == (4_000, 5_000)
    assert desk.conflict("accept_message", message=message_of("m", session="ses_a")) == "missing"
    for command in ("archive_session", "delete_session", "hold_queue"):
        assert desk.conflict(command, session="ses_a", at=6_000) == "missing"


def test_a_session_at_work_is_not_deleted(desk: Desk) -> None:
    desk.handed("a", "m")
    assert desk.conflict("delete_session", session="ses_a", at=5_000) == "busy"
    assert desk.conflict("delete_session", session="ses_x", at=5_000) == "missing"
    assert desk.read("message", message="msg_m")["text"] == "Do m"
