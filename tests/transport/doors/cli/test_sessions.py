"""``showcaller sessions``."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from showcaller.transport.doors.cli.times import local_time
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay

SESSION = {
    "id": "ses_3f9c2a1e07bd",
    "title": "wc -l \x1b[31ma.py",
    "provider": "command",
    "state": "running_turn",
    "waiting": "question",
    "lastActivityAt": "2026-11-29T17:00:00.000Z",
    "group": {"id": "grp_1", "name": "counts", "role": "member"},
}


def answering(*pages: dict[str, Any]) -> Any:
    left = list(pages)
    return lambda call: {"ok": True, "relay": "desk", "summary": "…", **left.pop(0)}


def test_sessions_stand_in_a_table_with_the_words_for_their_states(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    relay.answer = answering({"sessions": [SESSION]})
    ended = showcaller("sessions")
    assert ended.code == 0
    head, line = ended.out.splitlines()
    assert head.split("  ")[0] == "SESSION"
    assert "ses_3f9c2a1e07bd  waiting for you  wc -l \\x1b[31ma.py  counts" in line
    assert "working" not in ended.out


def test_times_are_the_persons_own_to_the_second_and_say_their_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert local_time("2026-11-29T23:00:59.999Z") == "2026-11-30 04:30:59+05:30"
        assert local_time("0001-01-01T00:00:00.000Z").startswith("0001-01-01")
        assert local_time("soon\x1b") == "soon\\x1b"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_database_is_opened_for_reading_only(
    showcaller: ShowCaller, relay: FakeRelay, home: Path
) -> None:
    relay.answer = answering({"sessions": []})
    showcaller("sessions")
    assert relay.opened == [(home, True)]
    assert relay.closed == 1


def test_json_is_one_object_with_the_sessions_as_the_relay_gives_them(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    relay.answer = answering({"sessions": [SESSION]})
    ended = showcaller("sessions", "--json")
    assert json.loads(ended.out) == {"sessions": [SESSION]}
    assert ended.out.count("\n") == 1
    assert "\x1b" not in ended.out


def test_the_options_become_the_calls_arguments(showcaller: ShowCaller, relay: FakeRelay) -> None:
    relay.answer = answering({"sessions": []})
    showcaller("sessions", "--scope", "ACTIVE", "--query", "deploy", "--limit", "7")
    (call,) = relay.calls
    assert {name: value for name, value in call.items() if value is not None} == {
        "action": "list_sessions",
        "relay": "this",
        "scope": "active",
        "query": "deploy",
        "limit": 7,
    }


def test_a_long_list_is_asked_for_page_by_page(showcaller: ShowCaller, relay: FakeRelay) -> None:
    relay.answer = answering({"sessions": [SESSION] * 100, "nextCursor": "c1"}, {"sessions": [SESSION] * 30})
    ended = showcaller("sessions", "--scope", "all", "--limit", "150", "--json")
    assert len(json.loads(ended.out)["sessions"]) == 130
    assert [(call["limit"], call["cursor"]) for call in relay.calls] == [(100, None), (50, "c1")]


def test_a_list_that_ends_before_its_last_session_says_so(showcaller: ShowCaller, relay: FakeRelay) -> None:
    relay.answer = answering(*[{"sessions": [SESSION] * 20, "nextCursor": "c1"}] * 2, {"sessions": [SESSION]})
    ended = showcaller("sessions")
    assert ended.code == 0
    assert len(ended.out.splitlines()) == 21
    assert ended.err == "There are more than these 20: name a greater --limit to see them.\n"
    assert json.loads(showcaller("sessions", "--json").out)["more"] is True
    assert showcaller("sessions").err == ""


def test_without_a_data_folder_the_list_is_empty_and_says_how_to_start(
    showcaller: ShowCaller, relay: FakeRelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOWCALLER_HOME", str(tmp_path / "none"))
    ended = showcaller("sessions")
    assert (ended.code, ended.out) == (0, "")
    assert str(tmp_path / "none") in ended.err
    assert "showcaller fanout" in ended.err
    assert json.loads(showcaller("sessions", "--json").out) == {"sessions": []}
    assert relay.opened == []
    assert not (tmp_path / "none").exists()


def test_an_empty_list_says_so_on_standard_error(showcaller: ShowCaller, relay: FakeRelay) -> None:
    relay.answer = answering({"sessions": []})
    ended = showcaller("sessions")
    assert (ended.code, ended.out) == (0, "")
    assert "No session" in ended.err
