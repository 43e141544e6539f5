"""What became of a prompt, and what is read of sessions: the same live and from the store."""

from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.relay.answers import written
from showcaller.store.errors import StoreLocked
from tests.actors.relay.stage import Stage

NO_CALLS: list[Any] = [None, [], "{", "{}", {"action": "nothing"}, {"action": "send"}, b"\xff"]
INVALID, NOT_FOUND = "REMOTE_RELAY_INVALID_INPUT", "REMOTE_RELAY_NOT_FOUND"


def with_a_reply(stage: Stage) -> dict[str, Any]:
    """Make a session with one ended prompt."""
    session, message = stage.create("first line\nsecond line")
    stage.workers.end(message, reply="the reply")
    stage.settle()
    return {"session": session, "message": message}


# -- wait ------------------------------------------------------------------------------------------


def test_to_wait_for_a_message_that_has_ended_gives_its_end_at_once(stage: Stage) -> None:
    made = with_a_reply(stage)
    found = stage.call("wait", session=made["session"], message_id=made["message"], wait_seconds=60)
    assert (found["status"], found["stopReason"], found["reply"]["text"]) == ("done", "end", "the reply")
    (reply,) = [
        message["id"]
        for message in stage.call("read_session", session=made["session"])["messages"]
        if message["role"] == "assistant"
    ]
    assert found["reply"]["messageId"] == reply


def test_to_wait_for_a_running_one_gives_its_progress_when_the_time_is_up(stage: Stage) -> None:
    session, message = stage.create()
    stage.workers.write(message, "x" * 1_000 + "so far")
    call = stage.begin("wait", session=session, message_id=message, wait_seconds=30)
    stage.advance(29)
    assert not call.done
    stage.advance(2)
    found = call.get()
    assert found["status"] == "running"
    assert found["progress"]["text"].endswith("so far")
    assert len(found["progress"]["text"]) == 600


def test_to_wait_for_a_queued_one_gives_queued_when_the_time_is_up(stage: Stage) -> None:
    session, _ = stage.create()
    second = stage.send(session, "second")
    call = stage.begin("wait", session=session, message_id=second, wait_seconds=30)
    stage.advance(31)
    assert call.get()["status"] == "queued"


def test_to_wait_for_a_message_that_a_stop_holds_says_so_and_what_lets_it_go_on(stage: Stage) -> None:
    session, _ = stage.create()
    second = stage.send(session, "second")
    assert "note" not in stage.call("wait", session=session, message_id=second, wait_seconds=0)
    stage.call("stop", session=session)
    call = stage.begin("wait", session=session, message_id=second, wait_seconds=30)
    stage.advance(31)
    held = call.get()
    assert held["status"] == "queued"
    assert "A stop holds" in held["note"]
    assert "somebody prompts the session again" in held["note"]


def test_the_progress_of_a_turn_that_was_asked_to_stop_is_told_in_the_words_of_the_contract(
    stage: Stage,
) -> None:
    session, message = stage.create()
    stage.workers.obedient = False
    stage.call("stop", session=session)
    found = stage.call("wait", session=session, message_id=message, wait_seconds=0)
    assert (found["status"], found["progress"]["status"]) == ("running", "running")


@pytest.mark.parametrize("wait_seconds", [0, 5])
def test_a_message_of_another_session_a_reply_and_an_unknown_one_are_not_found(
    stage: Stage, wait_seconds: int
) -> None:
    made, (other, message) = with_a_reply(stage), stage.create("other")
    reply = stage.read("message", message=made["message"])["reply"]["id"]
    for wrong in (message, reply, "msg_000000000000", "nonsense"):
        refused = stage.call("wait", session=made["session"], message_id=wrong, wait_seconds=wait_seconds)
        assert (refused["code"], refused["missing"]) == (NOT_FOUND, [wrong])
    assert stage.status(message) == "handed"
    assert stage.awake == [other]


def test_a_message_that_was_taken_out_of_the_queue_is_cancelled(stage: Stage) -> None:
    session, first = stage.create()
    second = stage.send(session, "second")
    waiting = stage.begin("wait", session=session, message_id=second, wait_seconds=60)
    stage.settle()
    _write(stage, "cancel_message", message=second, at=1)
    stage.workers.end(first)
    stage.settle()
    assert waiting.get()["status"] == "cancelled"
    assert stage.call("wait", session=session, message_id=second)["status"] == "cancelled"
    assert stage.workers.texts == ["first"]
    assert stage.awake == []


def _write(stage: Stage, command: str, **arguments: Any) -> None:
    actor: Any = stage.supervisor._actor
    with stage.dispatcher:
        done = written(actor._writer, command, **arguments)
    stage.settle()
    assert done.get().error is None


@pytest.mark.parametrize(
    ("outcome", "more", "shown"),
    [
        ("failed", {"error_text": "exit code 3", "exit_code": 3}, {"errorText": "exit code 3"}),
        ("failed", {"stop_reason": "timeout", "error_text": "too long"}, {"stopReason": "timeout"}),
        ("stopped", {}, {}),
        ("done", {"stop_reason": "length", "reply": "cut"}, {"stopReason": "length"}),
    ],
)
def test_how_a_turn_ended_is_told_the_same_live_and_from_the_store(
    stage: Stage, outcome: str, more: dict[str, Any], shown: dict[str, Any]
) -> None:
    live = stage.begin("create_session", text="go", wait_seconds=60)
    stage.settle()
    (turn,) = stage.workers.open
    stage.workers.end(turn, outcome, **more)
    stage.settle()
    told = live.get()
    assert told["status"] == outcome
    assert told.items() >= shown.items()
    later = stage.call("wait", session=told["session"], message_id=turn)
    for name in ("status", "stopReason", "errorText", "reply"):
        assert later.get(name) == told.get(name), name


def test_a_long_reply_is_cut_in_its_middle_and_says_where_the_rest_is(stage: Stage) -> None:
    session, message = stage.create()
    stage.workers.end(message, reply="<" + "x" * 20_000 + ">")
    stage.settle()
    found = stage.call("wait", session=session, message_id=message)
    text = found["reply"]["text"]
    assert (text[0], text[-1], found["reply"]["truncated"]) == ("<", ">", True)
    assert len(text) <= 8_000
    assert "read_session" in found["note"]


def test_once_it_is_stored_a_failure_of_waiting_does_not_read_as_not_sent(stage: Stage) -> None:
    session, _ = stage.create()
    sent = stage.begin("send", session=session, text="second", wait_seconds=5)
    stage.settle()
    stage.reader.failing["message"] = StoreLocked("relay.db", "another process is writing to it")
    actor: Any = stage.supervisor._actor
    actor.directory.find(session).stop(block=False)
    stage.settle()
    found = sent.get()
    assert (found["ok"], found["status"]) == (True, "queued")
    assert "do not send it again" in found["note"]
    assert "relay.db" in found["note"]


# -- reading ---------------------------------------------------------------------------------------


def test_list_and_read_agree_about_a_session_at_every_step(stage: Stage) -> None:
    session, first = stage.create()
    stage.send(session, "second")
    for turn in (first, None):
        listed = stage.call("list_sessions")["sessions"][0]
        read = stage.call("read_session", session=session)
        states = ("state", "queued", "process", "lastTurn")
        assert {name: listed.get(name) for name in states} == {name: read.get(name) for name in states}
        assert read["session"] == listed
        assert read["inFlight"]["message_id"] == next(iter(stage.workers.open))
        if turn is not None:
            stage.workers.end(turn, "failed", stop_reason="interrupted")
            stage.settle()
    assert stage.call("list_sessions")["sessions"][0]["lastTurn"] == "interrupted"


def test_what_is_being_written_is_shown_until_it_is_written(stage: Stage) -> None:
    session, first = stage.create()
    stage.workers.write(first, "half a re")
    stage.settle()
    shown = stage.call("read_session", session=session)["inFlight"]
    assert (shown["message_id"], shown["text"]) == (first, "half a re")
    stage.workers.end(first)
    stage.settle()
    assert "inFlight" not in stage.call("read_session", session=session)


def test_pages_of_sessions_and_messages_hold_each_once(stage: Stage) -> None:
    session, _ = stage.create("0")
    for number in range(1, 8):
        stage.workers.end(next(iter(stage.workers.open)), reply=f"reply {number}")
        stage.settle()
        stage.send(session, str(number))
        stage.create(f"other {number}")
    texts: list[str] = []
    before: dict[str, str] = {}
    while True:
        page = stage.call("read_session", session=session, last=4, **before)
        texts = [message["text"] for message in page["messages"]] + texts
        if "olderCursor" not in page:
            break
        before = {"before": page["olderCursor"]}
    assert [text for text in texts if not text.startswith("reply")] == [str(n) for n in range(8)]
    ids: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = stage.call("list_sessions", limit=3, scope="all", **cursor)
        ids += [row["id"] for row in page["sessions"]]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(ids) == len(set(ids)) == 8


def test_a_cursor_of_another_list_or_session_or_of_nobody_is_refused(stage: Stage) -> None:
    session, message = stage.create("0")
    stage.workers.end(message, reply="r")
    stage.settle()
    other, _ = stage.create("1")
    before = stage.call("read_session", session=session, last=1)["olderCursor"]
    following = stage.call("list_sessions", limit=1)["nextCursor"]
    for wrong in (following, "x", "W10", before[:-3], before + "A"):
        assert stage.call("read_session", session=session, before=wrong)["code"] == INVALID
    assert stage.call("read_session", session=other, before=before)["code"] == INVALID
    for wrong in (before, "nonsense", "W10", "😀", following + "="):
        assert stage.call("list_sessions", cursor=wrong)["code"] == INVALID
    for narrowed in ({"scope": "all"}, {"query": "x"}):
        assert stage.call("list_sessions", cursor=following, **narrowed)["code"] == INVALID
    assert len(stage.call("list_sessions", cursor=following)["sessions"]) == 1


def test_a_cursor_of_another_relay_is_refused(stage: Stage, tmp_path: Path) -> None:
    for number in range(2):
        stage.create(str(number))
    following = stage.call("list_sessions", limit=1)["nextCursor"]
    other = Stage(tmp_path / "other", seed=7)
    assert other.call("list_sessions", cursor=following)["code"] == INVALID
    other.drop()
