"""``showcaller new`` and ``showcaller send``."""

import io
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from showcaller.transport.doors.cli import prompting
from showcaller.transport.doors.cli.exits import Interrupted
from showcaller.transport.doors.cli.prompting import PIECE, Patience, Prompting
from showcaller.transport.doors.cli.relay import Door, LeftWorker
from showcaller.transport.doors.http.whereabouts import Whereabouts
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay

ID = "ses_3f9c2a1e07bd"
PLACE = {"ok": True, "relay": "desk", "summary": "…", "session": ID, "message_id": "msg_1"}


def answering(*ends: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Answer prompts as stored, readings with the session, and waits one after the other."""
    left = list(ends)

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        if call["action"] == "read_session":
            return {"ok": True, "session": {"id": ID}}
        if call["action"] == "wait":
            return PLACE | dict(left.pop(0))
        return PLACE | {"status": "queued"}

    return answer


DONE = {"status": "done", "reply": {"text": "three\x1b[2J\n"}}


def test_a_prompt_is_stored_first_and_then_waited_for_until_its_reply_is_there(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    relay.answer = answering({"status": "running"}, DONE)
    ended = showcaller("new", "make test", "--title", "nightly")
    assert (ended.code, ended.out) == (0, "three\\x1b[2J\n")
    assert ended.err == f"Session {ID}\n"
    first, *waits = relay.calls
    assert (first["action"], first["wait_seconds"], first["title"]) == ("create_session", 0, "nightly")
    assert first["cwd"] == str(Path.cwd())
    assert [wait["wait_seconds"] for wait in waits] == [PIECE, PIECE]
    assert all(relay.ids), "each can be repeated when the relay goes away"
    assert len(set(relay.ids)) == 3


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ({"status": "failed", "errorText": "exited with code 3"}, f"{ID} failed: exited with code 3"),
        ({"status": "failed", "stopReason": "interrupted"}, f"{ID} interrupted"),
        ({"status": "waiting_for_answer"}, "waits for you"),
        ({"status": "cancelled"}, "withdrawn"),
    ],
)
def test_a_turn_that_did_not_end_well_ends_with_1_and_is_told(
    showcaller: ShowCaller, relay: FakeRelay, end: dict[str, Any], told: str
) -> None:
    relay.answer = answering(end)
    ended = showcaller("send", "3f9c2a", "x")
    assert (ended.code, ended.out) == (1, "")
    assert told in ended.err


@pytest.mark.parametrize(("approvals", "said"), [(1, "1 approval of"), (2, "2 approvals of")])
def test_who_waits_for_approvals_is_told_where_to_give_them(
    showcaller: ShowCaller, relay: FakeRelay, monkeypatch: pytest.MonkeyPatch, approvals: int, said: str
) -> None:
    monkeypatch.setattr(prompting, "running_relay", lambda home: Whereabouts.of_this_process(1, "1.2.3"))
    relay.answer = answering(
        {"status": "waiting_for_answer", "pendingQuestions": [], "approvalsPending": approvals}
    )
    ended = showcaller("send", "3f9c2a", "x")
    assert ended.code == 1
    assert [line for line in ended.err.splitlines() if said in line and line.endswith(" inbox")]
    assert f"It goes on when you have answered. To see more: showcaller show {ID}" in ended.err


def test_what_goes_on_in_the_background_is_not_waited_for(
    showcaller: ShowCaller, relay: FakeRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompting, "running_relay", lambda home: Whereabouts.of_this_process(1, "1.2.3"))
    more = {"status": "running", "reply": {"text": "left it"}, "background": {"running": 1, "tasks": []}}
    relay.answer = answering(more)
    ended = showcaller("send", "3f9c2a", "make watch &")
    assert (ended.code, ended.out) == (0, "left it\n")
    assert "1 in the background" in ended.err


CUT = {"status": "failed", "stopReason": "interrupted", "errorText": "cut while it ran"}


def leaving(
    running: Mapping[str, Any], left: Mapping[str, Any]
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Answer whoever waits that it runs, and whoever only looks, after the command's relay, the rest."""

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        if call["action"] == "wait":
            return PLACE | dict(running if call["wait_seconds"] else left)
        return answering()(call)

    return answer


def test_a_turn_that_the_command_cuts_when_its_time_is_up_is_told_as_interrupted(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    relay.answer = leaving({"status": "running", "progress": {"text": "half"}}, CUT)
    ended = showcaller("new", "sleep 9", "--wait", "1ms", "--json")
    told = json.loads(ended.out)
    assert (ended.code, told["status"], told["stopReason"]) == (1, "failed", "interrupted")
    assert "progress" not in told
    assert "ended with this command" in told["note"]
    assert [read_only for _home, read_only in relay.opened] == [False, True]
    relay.answer = leaving({"status": "running"}, CUT)
    ended = showcaller("send", "3f9c2a", "sleep 9", "--wait", "1ms")
    assert f"{ID} interrupted: cut while it ran\nNo relay runs on " in ended.err
    assert "is running" not in ended.err
    assert "showcaller serve" in ended.err


def test_what_the_end_of_the_command_ends_in_the_background_is_told(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    more = {"status": "running", "reply": {"text": "left it"}, "background": {"running": 1, "tasks": []}}
    relay.answer = leaving(more, {"status": "done", "reply": {"text": "left it"}})
    ended = showcaller("new", "make watch &")
    assert (ended.code, ended.out) == (0, "left it\n")
    assert "1 in the background ended with this command." in ended.err


def test_an_id_and_what_to_do_with_a_busy_session_are_passed_on(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    relay.answer = answering(DONE)
    relay.answer = answering({"status": "running", "progress": {"status": "running"}}, DONE)
    ended = showcaller("send", ID, "x", "--id", "one", "--if-busy", "fail", "--json")
    told = json.loads(ended.out)
    assert (told["status"], told["session"]) == ("done", ID)
    assert told.keys().isdisjoint({"ok", "progress"}), "what was so while it ran is not so any more"
    (sent,) = (index for index, call in enumerate(relay.calls) if call["action"] == "send")
    assert relay.calls[sent]["if_busy"] == "fail"
    assert relay.ids[sent] == "one"


def test_a_prompt_comes_from_standard_input(
    showcaller: ShowCaller, relay: FakeRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    relay.answer = answering(DONE)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("schön\n".encode())))
    assert showcaller("new", "-").code == 0
    assert relay.calls[0]["text"] == "schön\n"
    for bad in (b"", b"\xff"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(bad)))
        assert showcaller("new", "-").code == 2, "as one on the command line"


@pytest.mark.parametrize("words", [("new", ""), ("new", " \n"), ("send", ID, "")])
def test_a_prompt_without_text_is_a_mistake_in_the_command_line(
    showcaller: ShowCaller, relay: FakeRelay, words: tuple[str, ...]
) -> None:
    ended = showcaller(*words)
    assert (ended.code, ended.out, relay.calls) == (2, "", [])
    assert "there is no prompt to send" in ended.err


def test_nobody_waits_for_a_prompt_that_nothing_would_run(showcaller: ShowCaller, relay: FakeRelay) -> None:
    ended = showcaller("new", "--no-wait", "make test")
    assert (ended.code, ended.out) == (3, "")
    assert "showcaller serve" in ended.err
    assert relay.calls == []


@pytest.mark.parametrize("options", [(), ("--wait", "1s"), ("--no-wait",)])
def test_a_prompt_for_a_client_of_its_own_is_queued_and_not_waited_for(
    showcaller: ShowCaller, relay: FakeRelay, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(prompting, "running_relay", lambda home: Whereabouts.of_this_process(1, "1.2.3"))

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        if call["action"] == "read_session":
            return {"ok": True, "session": {"id": ID, "provider": "external"}}
        assert call["action"] == "send", "it is not waited for"
        return PLACE | {"status": "queued", "note": "It gets the message with its next call."}

    relay.answer = answer
    ended = showcaller("send", ID, "hello", *options)
    assert (ended.code, ended.out) == (0, "")
    assert f"{ID} is queued." in ended.err
    assert "It gets the message with its next call." in ended.err
    told = json.loads(showcaller("send", ID, "hello", *options, "--json").out)
    assert (told["status"], told["note"]) == ("queued", "It gets the message with its next call.")


def test_no_more_than_wanted_is_waited(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    relay = FakeRelay()
    relay.answer = answering({"status": "running"}, {"status": "running"})
    passing = iter((0.0, 0.0, 400.3, 700.0))
    door = Door(tmp_path, None, relay.open)
    result = (
        Prompting(door, relay, Patience(600.0), lambda: next(passing)).send({"action": "send"}, None).result
    )
    assert result["status"] == "running"
    assert [call["wait_seconds"] for call in relay.calls[1:]] == [300, 200]
    assert Patience.of(no_wait=True, wait=5.0) == Patience(0.0)
    capfd.readouterr()


@pytest.mark.parametrize(
    ("now", "told", "stops"),
    [
        ({"status": "queued"}, "waits in the queue still, and runs when its turn comes", False),
        ({"status": "running"}, "It goes on. To stop it: showcaller stop-turn", True),
        ({"status": "running", "steered": True}, "has joined a turn that was under way", True),
        ({"status": "waiting_for_answer"}, "It goes on.", True),
        ({"status": "done"}, "has ended meanwhile", False),
        (None, "It is stored", False),
    ],
)
def test_who_presses_ctrl_c_is_told_how_the_prompt_stands_and_never_to_stop_another(
    showcaller: ShowCaller,
    relay: FakeRelay,
    monkeypatch: pytest.MonkeyPatch,
    now: Mapping[str, Any] | None,
    told: str,
    stops: bool,
) -> None:
    monkeypatch.setattr(prompting, "running_relay", lambda home: Whereabouts.of_this_process(1, "1.2.3"))

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        if call["action"] == "wait" and call["wait_seconds"]:
            raise KeyboardInterrupt
        if call["action"] == "wait":
            return {"ok": False, "code": "REMOTE_RELAY_INTERNAL"} if now is None else PLACE | dict(now)
        return answering()(call)

    relay.answer = answer
    ended = showcaller("send", "3f9c2a", "x", "--json")
    assert (ended.code, told in ended.err, "stop-turn" in ended.err) == (130, True, stops), ended
    assert ended.err.endswith("Interrupted.\n")
    object_ = json.loads(ended.out)
    assert object_["code"] == "REMOTE_RELAY_CANCELLED"
    assert object_["ok"] is False
    assert object_["wayOut"] in ended.err
    assert {name: object_[name] for name in ("session", "message_id")} == {
        name: PLACE[name] for name in ("session", "message_id")
    }


@pytest.mark.parametrize(
    ("left", "told"),
    [
        ([], "it ends here"),
        (
            [LeftWorker("wrk_a", 4711, ("msg_a",))],
            "Its relay has gone, and 1 worker that a relay has left is",
        ),
    ],
)
def test_what_a_worker_goes_on_with_is_not_said_to_end_with_its_relay(
    tmp_path: Path, left: list[LeftWorker], told: str
) -> None:
    relay = FakeRelay()

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        if call["action"] == "wait":
            raise KeyboardInterrupt
        return answering()(call)

    relay.answer = answer
    door = Door(tmp_path, None, relay.open, find_workers=lambda home: left)
    with pytest.raises(Interrupted) as interrupted:
        Prompting(door, relay, Patience(None), lambda: 0.0).send({"action": "send"}, None)
    assert told in interrupted.value.way_out
    assert ("stop --workers" in interrupted.value.way_out) == bool(left)
