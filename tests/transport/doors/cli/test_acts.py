"""Commands that act on sessions: stop-turn, kill, archive, delete; and export."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from showcaller.transport.doors.cli import prompting
from showcaller.transport.doors.http.whereabouts import Whereabouts
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay

ID = "ses_3f9c2a1e07bd"
BUSY = "ses_bbbbbbbbbbbb"


@pytest.fixture
def relay() -> FakeRelay:
    relay = FakeRelay()

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        if call["action"] == "list_sessions":
            return {"ok": True, "sessions": []}
        known = [one for one in (ID, BUSY) if one.startswith("ses_" + call["session"].removeprefix("ses_"))]
        if not known:
            return {"ok": False, "code": "REMOTE_RELAY_NOT_FOUND", "error": "There is none."}
        if call["action"] == "read_session":
            return {"ok": True, "session": {"id": known[0]}}
        if known[0] == BUSY:
            return {"ok": False, "code": "REMOTE_RELAY_BUSY", "error": "It works."}
        return {"ok": True, "relay": "desk", "summary": "…", "session": ID, "note": "So it is."}

    relay.answer = answer
    return relay


@pytest.mark.parametrize(
    ("command", "action"),
    [
        (("stop-turn",), "stop"),
        (("go-on",), "go_on"),
        (("restart",), "restart"),
        (("kill",), "kill"),
        (("archive",), "archive"),
        (("delete", "--yes"), "delete"),
    ],
)
def test_each_session_is_acted_on_and_what_came_of_it_is_told(
    showcaller: ShowCaller,
    relay: FakeRelay,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    action: str,
) -> None:
    monkeypatch.setattr(prompting, "running_relay", lambda home: Whereabouts.of_this_process(1, "1.2.3"))
    ended = showcaller(*command, "3f9c2a", BUSY, "--json")
    assert ended.code == 1
    assert [call["session"] for call in relay.calls if call["action"] == action] == [ID, BUSY]
    told = json.loads(ended.out)
    done, refused = told.pop("sessions")
    assert done == {"session": ID, "note": "So it is."}
    assert told == {"ok": False, "code": "REMOTE_RELAY_BUSY", "error": "It works."}
    assert refused == {"session": BUSY, **told}
    assert showcaller(*command, "3f9c2a").code == 0
    assert showcaller(*command, "nothing").code == 3


@pytest.mark.parametrize(("command", "done"), [("stop-turn", "told to stop"), ("kill", "ended")])
def test_it_is_said_when_nothing_ran_that_could_be_ended(
    showcaller: ShowCaller, relay: FakeRelay, command: str, done: str
) -> None:
    usual = relay.answer
    for ran, told in ((True, done), (False, "nothing was running")):

        def answer(call: Mapping[str, Any], ran: bool = ran) -> dict[str, Any]:
            result = usual(call)
            return {**result, "stopRequested": ran} if call["action"] in {"stop", "kill"} else result

        relay.answer = answer
        ended = showcaller(command, ID)
        assert (ended.code, ended.err.strip()) == (0, f"{ID}: {told}. So it is.")
        (row,) = json.loads(showcaller(command, ID, "--json").out)["sessions"]
        assert row["stopRequested"] is ran


@pytest.mark.parametrize(("held", "told"), [(True, "what was held goes on"), (False, "nothing was held")])
def test_it_is_said_whether_anything_was_held(
    showcaller: ShowCaller, relay: FakeRelay, monkeypatch: pytest.MonkeyPatch, held: bool, told: str
) -> None:
    monkeypatch.setattr(prompting, "running_relay", lambda home: Whereabouts.of_this_process(1, "1.2.3"))
    usual = relay.answer

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        result = usual(call)
        return {"ok": True, "session": ID, "released": held} if call["action"] == "go_on" else result

    relay.answer = answer
    ended = showcaller("go-on", ID)
    assert (ended.code, ended.err.strip()) == (0, f"{ID}: {told}")


def test_nothing_goes_on_where_no_relay_would_run_it(showcaller: ShowCaller, relay: FakeRelay) -> None:
    ended = showcaller("go-on", ID)
    assert (ended.code, ended.out, relay.calls) == (3, "", [])
    assert "showcaller serve" in ended.err


def test_nothing_is_deleted_where_nobody_can_be_asked(showcaller: ShowCaller, relay: FakeRelay) -> None:
    ended = showcaller("delete", ID)
    assert (ended.code, ended.out) == (2, "")
    assert "--yes" in ended.err
    assert relay.calls == []


def test_an_export_is_written_piece_by_piece_in_the_form_that_was_asked_for(showcaller: ShowCaller) -> None:
    assert showcaller("export", "3f9c2a").out == f"{ID} as md\n"
    assert showcaller("export", "3f9c2a", "--json").out == f"{ID} as jsonl\n"
    assert showcaller("export", "3f9c2a", "--format", "html").out == f"{ID} as html\n"
    assert showcaller("export", "3f9c2a", "--format", "html", "--json").code == 2
    assert showcaller("export", "nothing").code == 3


def test_update_names_what_is_to_change_and_nothing_else(showcaller: ShowCaller, relay: FakeRelay) -> None:
    told = ("--title", "new", "--mode", "PLAN", "--no-thinking", "--may-create-sessions", "--group", "none")
    ended = showcaller("update", "3f9c2a", *told, "--auto-compact-window", "auto")
    assert (ended.code, ended.err) == (0, f"{ID}: changed. So it is.\n")
    assert relay.calls[-1] == {
        "action": "update_session",
        "relay": "this",
        "session": ID,
        "title": "new",
        "mode": "plan",
        "group": "none",
        "auto_compact_window": "auto",
        "thinking_enabled": False,
        "may_create_sessions": True,
    }
    wrong = showcaller("update", "3f9c2a")
    assert (wrong.code, "Name at least one setting" in wrong.err) == (2, True)
