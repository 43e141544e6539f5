"""An external conversation takes what waits for it."""

import pytest

from tests.store.desk import Desk, message_of, session_of


@pytest.fixture(autouse=True)
def conversation(desk: Desk) -> None:
    """Have two messages wait for a conversation, and one for an ordinary session."""
    desk.session("ext", "one", "two", provider="external")
    desk.session("other", "foreign")


def statuses(desk: Desk) -> dict[str, tuple[str, str | None]]:
    """Read how each message stands."""
    return {row[0]: row[1:] for row in desk.rows("SELECT id, status, stop_reason FROM message")}


def test_what_is_taken_is_done_and_leaves_the_queue_and_the_outbox(desk: Desk) -> None:
    assert desk.value("take_messages", session="ses_ext", messages=["msg_one"], at=5_000) == {
        "taken": ["msg_one"]
    }
    assert statuses(desk)["msg_one"] == ("done", "end")
    assert statuses(desk)["msg_two"] == ("queued", None)
    assert desk.rows("SELECT key FROM outbox WHERE session = 'ses_ext'") == [("msg_two",)]
    assert desk.rows("SELECT handed_at, ended_at, worker FROM message WHERE id = 'msg_one'") == [
        (5_000, 5_000, None)
    ]
    assert [row["id"] for row in desk.read("waiting_messages", session="ses_ext")] == ["msg_two"]


def test_each_gets_one_beginning_and_one_end_however_often_it_is_taken(desk: Desk) -> None:
    for _ in range(2):
        desk.value("take_messages", session="ses_ext", messages=["msg_one", "msg_two"], at=5_000)
    events = desk.rows("SELECT kind, message FROM event WHERE session = 'ses_ext' ORDER BY cursor")
    assert events == [
        (kind, message) for message in ("msg_one", "msg_two") for kind in ("turn_started", "turn_end")
    ]


def test_what_is_cancelled_or_of_another_session_is_passed_over(desk: Desk) -> None:
    desk.value("cancel_message", message="msg_two", at=4_000)
    named = ["msg_two", "msg_foreign", "msg_nowhere", "msg_one"]
    assert desk.value("take_messages", session="ses_ext", messages=named, at=5_000) == {"taken": ["msg_one"]}
    assert (statuses(desk)["msg_two"][0], statuses(desk)["msg_foreign"][0]) == ("cancelled", "queued")


def test_what_waits_comes_in_order_and_not_while_a_stop_holds_it(desk: Desk) -> None:
    waiting = [row["id"] for row in desk.read("waiting_messages", session="ses_ext")]
    assert waiting == ["msg_one", "msg_two"]
    desk.value("hold_queue", session="ses_ext", at=2_000)
    assert desk.read("waiting_messages", session="ses_ext") == []
    desk.value("accept_message", message=message_of("three", session="ses_ext"), releases=True)
    assert len(desk.read("waiting_messages", session="ses_ext")) == 3


def test_a_conversation_with_a_call_under_way_is_active(desk: Desk) -> None:
    desk.value("create_session", session=session_of("idle", provider="external"), message=None)
    desk.value("take_messages", session="ses_ext", messages=["msg_one", "msg_two"], at=5_000)
    for calling, expected in (([], ["ses_other"]), (["ses_ext"], ["ses_ext", "ses_other"])):
        page = desk.read("list_sessions", scope="active", calling=calling)["sessions"]
        assert sorted(row["id"] for row in page) == expected
