"""``showcaller show``."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from showcaller.transport.doors.cli.times import local_time
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay

ID = "ses_3f9c2a1e07bd"
OTHER = "ses_aaaaaaaaaaaa"
PLACE = {"group": {"id": "grp_1", "name": "counts", "role": "member"}, "lastActivityAt": "noon"}


@pytest.fixture
def titled(relay: FakeRelay) -> FakeRelay:
    """A relay with two sessions, which finds ids by their beginning and titles by a part."""
    titles = {ID: "wc -l a.py", OTHER: "wc -l a.py b.py"}

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        if call["action"] == "list_sessions":
            found = [key for key, title in titles.items() if call["query"].casefold() in title.casefold()]
            return {"ok": True, "sessions": [{"id": key, "title": titles[key], **PLACE} for key in found]}
        if call["action"] == "wait":
            assert (call["message_id"], call["wait_seconds"]) == ("msg_1", 0)
            failed: dict[str, Any] = {
                "status": "failed",
                "stopReason": "end",
                "errorText": "exited with code 3\x1b",
            }
            failed["seconds"] = 1.204
            return {"ok": True, **failed, "reply": {"messageId": "msg_2", "text": "3 a.py"}}
        wanted = "ses_" + call["session"].removeprefix("ses_")
        found = [key for key in titles if key.startswith(wanted)]
        if not found:
            return {"ok": False, "code": "REMOTE_RELAY_NOT_FOUND", "error": "No such session."}
        return {"ok": True, "relay": "desk", "summary": "…"} | conversation(found[0], titles[found[0]])

    relay.answer = answer
    return relay


def conversation(session: str, title: str) -> dict[str, Any]:
    ended = "failed" if session == ID else "done"
    return {
        "session": {"id": session, "title": title, "state": "idle", "lastTurn": ended, "cwd": "/srv/x"},
        "messages": [
            {"id": "msg_1", "role": "user", "at": "2026-11-29T17:00:00.000Z", "text": "wc -l a.py"},
            {
                "id": "msg_2",
                "role": "assistant",
                "at": "2026-11-29T17:00:01.000Z",
                "text": "3 a.py\n\x1b[2Jend\n",
            },
        ],
    }


@pytest.mark.parametrize("name", [ID, "3f9c2a", "ses_3f9c2a", "wc -l A.py", "3f9c2a1e07bd"])
def test_a_session_is_found_by_its_id_a_beginning_of_it_or_its_title(
    showcaller: ShowCaller, titled: FakeRelay, name: str
) -> None:
    ended = showcaller("show", name)
    assert ended.code == 0
    assert f"wc -l a.py  ({ID})" in ended.out


def test_the_conversation_is_shown_with_its_state_and_without_control_characters(
    showcaller: ShowCaller, titled: FakeRelay
) -> None:
    lines = showcaller("show", ID).out.splitlines()
    assert lines[1:3] == ["state: idle · failed", "folder: /srv/x"]
    at = local_time("2026-11-29T17:00:01.000Z")
    assert lines[-4:] == ["", f"{at}  assistant", "3 a.py", "\\x1b[2Jend"]


def test_after_each_prompt_it_says_how_that_ended(showcaller: ShowCaller, titled: FakeRelay) -> None:
    assert "\nwc -l a.py\n→ failed (after 1.20 s): exited with code 3\\x1b\n\n" in showcaller("show", ID).out


def test_json_is_the_conversation_as_one_object(showcaller: ShowCaller, titled: FakeRelay) -> None:
    ended = showcaller("show", ID, "--json", "--last", "3")
    expected = conversation(ID, "wc -l a.py")
    expected["messages"][0] |= {
        "status": "failed",
        "stopReason": "end",
        "errorText": "exited with code 3\x1b",
        "seconds": 1.204,
    }
    assert json.loads(ended.out) == expected
    assert titled.calls[0]["last"] == 3


@pytest.mark.parametrize("name", ["nothing like it", "abcdef", "ses_zzzzzz", " ", "*"])
def test_no_such_session_ends_with_3(showcaller: ShowCaller, titled: FakeRelay, name: str) -> None:
    ended = showcaller("show", name)
    assert (ended.code, ended.out) == (3, "")
    assert "showcaller sessions" in ended.err


@pytest.mark.parametrize("command", [("show",), ("kill",), ("archive",), ("delete", "--yes")])
def test_a_part_of_a_title_names_no_session_and_those_are_told_that_have_it(
    showcaller: ShowCaller, titled: FakeRelay, command: tuple[str, ...]
) -> None:
    """What is deleted by mistake does not come back."""
    ended = showcaller(*command, "b.py")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.splitlines() == [
        "Error: No session has the id or the title 'b.py'.",
        "These have it in their title; name one by its id or its whole title:",
        f"  {OTHER}  noon  counts  wc -l a.py b.py",
    ]
    assert not [call for call in titled.calls if call["action"] not in {"list_sessions", "read_session"}]


def test_a_title_of_several_is_refused_and_says_how_many_more_there_are(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    found = [{"id": f"ses_{number:012}", "title": "same"} for number in range(13)]
    relay.answer = lambda call: {"ok": True, "sessions": found}
    err = showcaller("show", "same").err
    assert err.startswith("Error: 'same' can mean several sessions: name one by its id.\n")
    assert "  ses_000000000009    no group  same\n  and 3 more\n" in err


def test_without_a_data_folder_there_is_no_such_session(
    showcaller: ShowCaller, relay: FakeRelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOWCALLER_HOME", str(tmp_path / "none"))
    assert showcaller("show", ID).code == 3
    assert relay.opened == []


TASK = {
    "id": "tsk_1",
    "type": "command",
    "description": "make\x1b watch",
    "status": "running",
    "output": True,
}


@pytest.fixture
def busy(relay: FakeRelay) -> FakeRelay:
    """A relay with one session, in whose background something runs."""

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        session = {"id": ID, "title": "watch", "state": "background_only"}
        if call["action"] == "read_session":
            health = {"minutesSinceOutput": 12, "quiet": True, "quietAfterMinutes": 10}
            counts = {"runner": "pytest", "passed": 1200, "failed": 1, "skipped": 0, "final": False}
            said = {"id": "msg_1", "role": "user", "at": "2026-11-29T17:00:00.000Z", "text": "make watch &"}
            tasks = [TASK | {"health": health, "counts": counts}]
            return {"ok": True, "session": session, "messages": [said], "tasks": tasks}
        if call["action"] == "wait":
            left = {"running": 1, "tasks": [TASK]}
            return {"ok": True, "status": "running", "seconds": 0.25, "background": left}
        assert call["action"] == "read_task_output"
        if call["task_id"] != "tsk_1":
            return {"ok": False, "code": "REMOTE_RELAY_NOT_FOUND", "error": "Task 'tsk_2' neither runs."}
        head = {**TASK, "startedAt": "2026-11-29T17:00:00.000Z", "exitCode": None}
        return {
            "ok": True,
            "relay": "x",
            "summary": "x",
            "task": head,
            "tail": ["a\x1b[2J"],
            "truncated": True,
        }

    relay.answer = answer
    return relay


def test_what_runs_in_the_background_is_listed_with_how_to_read_it(
    showcaller: ShowCaller, busy: FakeRelay
) -> None:
    lines = showcaller("show", ID).out.splitlines()
    assert "→ answered (after 0.25 s), 1 in the background" in lines
    assert lines[-2:] == [
        "  tsk_1  running, quiet for 12 min, pytest: 1,200 passed, 1 failed  make\\x1b watch",
        f"to see what one has written: showcaller show {ID} --task tsk_1",
    ]


def test_the_end_of_what_a_task_has_written_is_shown(showcaller: ShowCaller, busy: FakeRelay) -> None:
    ended = showcaller("show", ID, "--task", "tsk_1", "--lines", "7")
    assert (ended.code, ended.out) == (0, "a\\x1b[2J\n")
    assert "make\\x1b watch  (tsk_1)\nrunning, since " in ended.err
    assert "These are the last lines:" in ended.err
    assert busy.calls[-1]["lines"] == 7
    told = json.loads(showcaller("show", ID, "--task", "tsk_1", "--json").out)
    assert told["tail"] == ["a\x1b[2J"]
    assert told["task"]["startedAt"] == "2026-11-29T17:00:00.000Z"
    assert busy.calls[-1]["lines"] == 50


def test_a_task_that_is_not_there_ends_with_3_and_lines_without_a_task_with_2(
    showcaller: ShowCaller, busy: FakeRelay
) -> None:
    ended = showcaller("show", ID, "--task", "tsk_2")
    assert (ended.code, ended.out) == (3, "")
    assert f"showcaller show {ID}" in ended.err
    assert showcaller("show", ID, "--lines", "7").code == 2
    assert showcaller("show", ID, "--task", "tsk_1", "--lines", "0").code == 2
