"""Tool calls: what each gives, what it refuses, and that a repeat is harmless."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.relay.answers import written
from showcaller.store.errors import StoreLocked
from showcaller.transport.doors.local import OWNER
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

NO_CALLS: list[Any] = [None, [], "{", "{}", {"action": "nothing"}, {"action": "send"}, b"\xff"]
INVALID, NOT_FOUND = "REMOTE_RELAY_INVALID_INPUT", "REMOTE_RELAY_NOT_FOUND"


def with_a_reply(stage: Stage) -> dict[str, Any]:
    """Make a session with one ended prompt."""
    session, message = stage.create("first line\nsecond line")
    stage.workers.end(message, reply="the reply")
    stage.settle()
    return {"session": session, "message": message}


# -- create_session --------------------------------------------------------------------------------


def test_a_new_session_says_with_what_it_was_started(stage: Stage, tmp_path: Path) -> None:
    created = stage.call("create_session", text="wc -l x\nmore", cwd=str(tmp_path), wait_seconds=0)
    assert created["ok"]
    assert created["status"] == "running"
    shown = {name: created[name] for name in ("provider", "modelSource", "mode", "title", "cwd", "group")}
    assert shown == {
        "provider": "command",
        "modelSource": "default",
        "mode": "agent",
        "title": "wc -l x",
        "cwd": str(tmp_path),
        "group": None,
    }


def test_it_can_join_a_group_by_its_name_or_id(stage: Stage) -> None:
    run = stage.fan_out(["a"], name="counts")
    run.work()
    for name in ("counts", run.group, run.group[:10]):
        created = stage.call("create_session", text="go", group=name, wait_seconds=0)
        assert created["group"] == {"id": run.group, "name": "counts", "role": "member"}
        shown = stage.call("read_session", session=created["session"])["session"]["group"]
        assert shown == created["group"]


def test_a_group_that_is_not_there_is_refused_and_nothing_created(stage: Stage) -> None:
    refused = stage.call("create_session", text="go", group="nobody's")
    assert refused["code"] == "REMOTE_RELAY_UNKNOWN_GROUP"
    assert "Nothing was created" in refused["error"]
    assert stage.read("counts")["sessions"] == 0


@pytest.mark.parametrize(
    "cwd", ["relative", "/does/not/exist", "{home}/file", "/" + "x" * 300, "{home}/loop", "{home}/file/below"]
)
def test_a_folder_that_cannot_be_worked_in_is_refused_by_its_name(stage: Stage, cwd: str) -> None:
    (stage.home / "file").touch()
    (stage.home / "loop").symlink_to(stage.home / "loop")
    refused = stage.call("create_session", text="go", cwd=cwd.format(home=stage.home))
    assert refused["code"] == INVALID
    assert "Nothing was created" in refused["error"]
    assert stage.read("counts")["sessions"] == 0


def test_a_folder_is_kept_as_the_one_it_leads_to(stage: Stage) -> None:
    (stage.home / "real").mkdir()
    (stage.home / "link").symlink_to(stage.home / "real")
    created = stage.call("create_session", text="go", cwd=str(stage.home / "link"), wait_seconds=0)
    assert created["cwd"] == str((stage.home / "real").resolve())


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"provider": "claude"}, "REMOTE_RELAY_PROVIDER_UNAVAILABLE"),
        ({"provider": "callable"}, "REMOTE_RELAY_PROVIDER_UNAVAILABLE"),
        ({"provider": "callable:"}, "REMOTE_RELAY_PROVIDER_UNAVAILABLE"),
        ({"provider": "commander"}, "REMOTE_RELAY_PROVIDER_UNAVAILABLE"),
        ({"model": "m"}, "REMOTE_RELAY_UNKNOWN_MODEL"),
        ({"repo": "owner/name"}, INVALID),
        ({"relay": "elsewhere"}, "REMOTE_RELAY_UNKNOWN"),
        ({"session": "ses_000000"}, INVALID),
    ],
)
def test_what_this_relay_does_not_have_is_refused_and_nothing_created(
    stage: Stage, arguments: dict[str, Any], code: str
) -> None:
    refused = stage.call("create_session", text="go", **arguments)
    assert (refused["ok"], refused["code"]) == (False, code)
    assert stage.read("counts")["sessions"] == 0


def test_a_setting_without_effect_is_noted(stage: Stage) -> None:
    created = stage.call("create_session", text="go", mode="plan", effort="high", wait_seconds=0)
    assert "mode and effort has no effect on command" in created["note"]


# -- send ------------------------------------------------------------------------------------------


def test_a_second_message_during_a_turn_is_queued(stage: Stage) -> None:
    session, first = stage.create()
    sent = stage.call("send", session=session, text="second", wait_seconds=0)
    assert (sent["status"], sent["session"]) == ("queued", session)
    listed = stage.call("list_sessions")["sessions"][0]
    assert (listed["state"], listed["queued"], listed["process"]) == ("running_turn", 1, "alive")
    assert listed["id"] == session
    stage.workers.end(first)
    stage.settle()
    assert stage.workers.texts == ["first", "second"]


@pytest.mark.parametrize("seed", range(6))
def test_if_busy_fail_refuses_while_anything_runs_waits_or_is_being_stored(
    open_stage: OpenStage, seed: int
) -> None:
    stage = open_stage(seed)
    session, first = stage.create()
    refused = stage.call("send", session=session, text="no", if_busy="fail")
    assert refused["code"] == "REMOTE_RELAY_BUSY"
    assert "Nothing was sent" in refused["error"]
    stage.workers.end(first)
    stage.settle()
    both = [stage.begin("send", session=session, text="x", if_busy="fail", wait_seconds=0) for _ in range(2)]
    stage.settle()
    assert sorted(call.get()["ok"] for call in both) == [False, True]
    assert len(stage.workers.runs) == 2


def test_the_same_id_again_gives_the_first_message_though_the_session_is_busy_with_it(stage: Stage) -> None:
    session, first = stage.create()
    stage.workers.end(first)
    stage.settle()
    sent = [
        stage.call("send", "id-1", session=session, text="x", if_busy="fail", wait_seconds=0)
        for _ in range(3)
    ]
    assert [result["status"] for result in sent] == ["running", "duplicate", "duplicate"]
    assert len({result["message_id"] for result in sent}) == 1
    assert stage.workers.texts == ["first", "x"]


@pytest.mark.parametrize("seed", range(6))
def test_the_same_id_at_the_same_time_is_carried_out_once(open_stage: OpenStage, seed: int) -> None:
    stage = open_stage(seed)
    calls = [stage.begin("create_session", "id-1", text="go", wait_seconds=0) for _ in range(3)]
    stage.settle()
    results = [call.get() for call in calls]
    assert sorted(result["status"] for result in results)[:2] == ["duplicate", "duplicate"]
    assert len({result["session"] for result in results}) == 1
    assert stage.workers.texts == ["go"]
    assert stage.awake == [results[0]["session"]]


def test_the_same_id_with_another_body_is_refused(stage: Stage) -> None:
    session, _ = stage.create()
    assert stage.call("send", "id-1", session=session, text="x", wait_seconds=0)["ok"]
    refused = stage.call("send", "id-1", session=session, text="y", wait_seconds=0)
    assert refused["code"] == INVALID
    assert "id-1" in refused["error"]


@pytest.mark.parametrize("client_id", ["", "x" * 201, "a\nb", "\ud800", 7])
def test_an_id_that_cannot_be_kept_is_refused(stage: Stage, client_id: Any) -> None:
    assert stage.call("create_session", client_id, text="go")["code"] == INVALID
    assert stage.read("counts")["sessions"] == 0


def test_a_full_queue_refuses_the_next_message(stage: Stage) -> None:
    session, _ = stage.create()
    for number in range(100):
        stage.send(session, f"no {number}")
    refused = stage.call("send", session=session, text="one too many", wait_seconds=0)
    assert refused["code"] == "REMOTE_RELAY_QUEUE_LIMIT"
    assert stage.read("counts")["queued"] == 100


def test_a_session_keeps_its_provider(stage: Stage) -> None:
    session, _ = stage.create()
    refused = stage.call("send", session=session, text="x", provider="callable:m:f")
    assert refused["code"] == "REMOTE_RELAY_PROVIDER_UNAVAILABLE"
    assert stage.call("send", session=session, text="x", provider="command", wait_seconds=0)["ok"]


# -- naming a session ------------------------------------------------------------------------------


def test_a_session_is_named_by_its_beginning_as_long_as_that_is_clear(stage: Stage) -> None:
    session, _ = stage.create()
    for name in (session, session[4:], session[:10], session[4:10]):
        assert stage.call("read_session", session=name)["session"]["id"] == session
    assert stage.call("read_session", session="ses_zzzzzz")["code"] == NOT_FOUND
    assert stage.call("read_session", session="zz")["code"] == INVALID


def test_a_beginning_that_several_share_is_refused_with_their_ids(stage: Stage) -> None:
    numbers = count(1)
    object.__setattr__(stage.ports, "new_id", lambda prefix: f"{prefix}aaaaaa{next(numbers):06}")
    for _ in range(2):
        stage.create()
    refused = stage.call("send", session="aaaaaa", text="x")
    assert refused["code"] == INVALID
    assert len(refused["sessions"]) == 2
    assert all(stage.call("read_session", session=session)["ok"] for session in refused["sessions"])


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
    for wrong in (before, "nonsense", "W10", "😀"):
        assert stage.call("list_sessions", cursor=wrong)["code"] == INVALID


# -- the relay's name, and mistakes ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["this", "THIS", "stage", "Stage", "@stage"])
def test_the_relay_is_named_by_this_or_by_its_name(stage: Stage, name: str) -> None:
    assert stage.call("list_sessions", relay=name)["relay"] == "stage"


def test_a_store_that_cannot_be_read_is_a_refusal_that_names_it(stage: Stage) -> None:
    stage.reader.failing["list_sessions"] = StoreLocked("relay.db", "another process is writing to it")
    refused = stage.call("list_sessions")
    assert refused["code"] == "REMOTE_RELAY_STORAGE"
    assert "relay.db" in refused["error"]


def test_a_mistake_of_ours_gives_a_reference_into_the_log_and_nothing_else(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.reader.failing["list_sessions"] = LookupError("a secret of the inside")
    refused = stage.call("list_sessions")
    assert refused["code"] == "REMOTE_RELAY_INTERNAL"
    assert "secret" not in refused["error"]
    reference = refused["error"].rstrip(".").split()[-1]
    assert reference in caplog.text
    caplog.clear()


@pytest.mark.parametrize("arguments", NO_CALLS)
def test_what_is_no_call_is_refused(stage: Stage, arguments: Any) -> None:
    result = stage.door._begin(arguments, OWNER, None)
    stage.settle()
    assert (result.get()["ok"], result.get()["code"]) == (False, INVALID)
