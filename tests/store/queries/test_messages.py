"""Conversations, page by page."""

import pytest

from showcaller.store.queries import messages
from tests.store.desk import Desk, ending, message_of
from tests.store.plans import plan


def conversation(desk: Desk, turns: int) -> list[str]:
    """Hold a conversation of so many turns; gives the ids of its messages in order."""
    desk.session("a")
    desk.session("b")
    for turn in range(turns):
        desk.value("accept_message", message=message_of(f"m{turn}", session="ses_a"))
        desk.value("accept_message", message=message_of(f"other{turn}", session="ses_b"))
        desk.value("hand_over", message=f"msg_m{turn}", worker="wrk_1", at=2_000)
        desk.value("end_turn", **ending(f"m{turn}"))
    return [name for turn in range(turns) for name in (f"msg_m{turn}", f"msg_m{turn}_reply")]


@pytest.mark.parametrize("size", [1, 3, 6, 50])
def test_pages_from_the_newest_to_the_oldest_give_everything_once(desk: Desk, size: int) -> None:
    whole = conversation(desk, 3)
    read: list[str] = []
    before = None
    while True:
        page = desk.read("read_messages", session="ses_a", last=size, before=before)
        read = [message["id"] for message in page["messages"]] + read
        before = page["older"]
        if before is None:
            break
    assert read == whole


def test_what_an_agent_did_is_with_its_reply_or_else_its_prompt_and_goes_with_the_session(desk: Desk) -> None:
    conversation(desk, 1)
    for name, reply in (("said", True), ("silent", False)):
        desk.value("accept_message", message=message_of(name, session="ses_a"))
        desk.value("hand_over", message=f"msg_{name}", worker="wrk_1", at=2_000)
        end = ending(name)
        desk.value("end_turn", **{**end, "reply": end["reply"] if reply else None, "activity": ["a", "b"]})

    def activities(**more: bool) -> dict[str, list[str] | None]:
        page = desk.read("read_messages", session="ses_a", last=50, **more)
        return {row["id"]: row.get("activity") for row in page["messages"]}

    assert activities(with_activity=True) == {
        "msg_m0": None,
        "msg_m0_reply": None,
        "msg_said": None,
        "msg_said_reply": ["a", "b"],
        "msg_silent": ["a", "b"],
    }
    assert set(activities().values()) == {None}
    desk.value("delete_session", session="ses_a", at=9_000)
    assert set(activities(with_activity=True).values()) == {None}


def test_an_unknown_session_has_no_messages(desk: Desk) -> None:
    assert desk.read("read_messages", session="ses_x") == {"messages": [], "older": None}


def test_an_unknown_message_is_none(desk: Desk) -> None:
    assert desk.read("message", message="msg_x") is None


def test_pages_and_replies_are_read_from_indexes(desk: Desk) -> None:
    values = {"session": "ses_a", "limit": 5, "before": 9, "message": "msg_a", "position": 3}
    for statement in (messages._LAST, messages._BEFORE, messages._REPLY):
        found = plan(desk, statement, **values)
        assert "message_session_position (session=?" in found
        assert "TEMP B-TREE" not in found
    assert "message_id (id=?)" in plan(desk, messages._BY_ID, **values)


def test_the_last_words_are_those_of_the_agents_newest_message(desk: Desk) -> None:
    conversation(desk, 2)
    desk.value("accept_message", message=message_of("waits", session="ses_a"))
    assert desk.read("last_words", session="ses_a") == {"text": "m1 is done", "is_whole": True}
    assert desk.read("last_words", session="ses_x") is None
    assert "message_session_position" in plan(desk, messages._LAST_WORDS, session="ses_a")


@pytest.mark.parametrize(
    ("text", "words", "is_whole"),
    [
        ("", "", True),
        ("a\0b?", "a\0b?", True),
        ("x" * messages.LAST_BYTES, "x" * messages.LAST_BYTES, True),
        (f"{'y' * 1_000_000}\0{'x' * messages.LAST_BYTES}", "x" * messages.LAST_BYTES, False),
        (f"\u20ac{'x' * (messages.LAST_BYTES - 1)}", f"\ufffd{'x' * (messages.LAST_BYTES - 1)}", False),
    ],
)
def test_of_a_long_last_reply_only_the_end_is_read(desk: Desk, text: str, words: str, is_whole: bool) -> None:
    desk.handed("a", "m")
    reply = {"id": "msg_r", "text": text, "truncated": False}
    desk.value("end_turn", **ending("m", reply=reply))
    assert desk.read("last_words", session="ses_a") == {"text": words, "is_whole": is_whole}
