"""What wait, monitor and events tell, and with which exit code they end."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from showcaller.transport.doors.cli import watched
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay

ONE, TWO = "ses_000000000001", "ses_000000000002"


@pytest.fixture(autouse=True)
def runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a relay run, as far as the commands look."""
    monkeypatch.setattr(watched, "running_relay", lambda _: object())


def event(session: str, cursor: int, kind: str = "turn_end") -> dict[str, Any]:
    """An event as the relay tells it."""
    at = "2026-11-30T09:00:00.000Z"
    return {"cursor": cursor, "event": kind, "session": session, "title": "t", "at": at, "text": "well"}


def idle(session: str) -> dict[str, Any]:
    """A session that is idle."""
    return {"session": session, "title": "t", "state": "idle", "queued": 0, "lastTurn": "done"}


def seen(cursor: int, *fired: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An answer of a monitor."""
    told = {"fired": list(fired), "pending": [], "next": cursor, "gap": None, "more": False}
    return {"ok": True, "relay": "desk", "summary": "…", **told, **more}


def answers(relay: FakeRelay, *found: dict[str, Any]) -> None:
    """Have monitors and the log answered so, one after the other, and sessions found by their ids."""
    left = list(found)

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        if call["action"] == "read_session":
            return {"ok": True, "session": {"id": call["session"], "title": "t"}, "messages": []}
        return left.pop(0)

    relay.answer = answer


def asked(relay: FakeRelay) -> list[tuple[Any, Any, bool]]:
    """What monitors were asked: which sessions, from where on, and whether to wait."""
    return [(c["sessions"], c["since"], c["waits"]) for c in relay.calls if c["action"] == "monitor"]


def test_wait_asks_for_its_place_first_and_ends_with_the_first_that_fires(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    answers(relay, seen(7), seen(9, event(TWO, 9)))
    ended = showcaller("wait", ONE, TWO, "--json")
    assert ended.code == 0
    assert asked(relay) == [([ONE, TWO], None, False), ([ONE, TWO], 7, True)]
    told = json.loads(ended.out)
    assert (told["matched"], told["next"], told["fired"][0]["session"]) == (True, 9, TWO)


def test_wait_for_all_goes_on_with_those_that_are_left(showcaller: ShowCaller, relay: FakeRelay) -> None:
    answers(relay, seen(7, alreadyIdle=[idle(ONE)]), seen(9, event(TWO, 9)))
    ended = showcaller("wait", ONE, TWO, "--all")
    assert ended.code == 0
    assert asked(relay) == [([ONE, TWO], None, False), ([TWO], 7, True)]
    assert [line.split("  ")[-2:] for line in ended.out.splitlines()][1] == ["idle · done", "t"]


def test_one_that_is_idle_already_is_not_waited_for(showcaller: ShowCaller, relay: FakeRelay) -> None:
    answers(relay, seen(7, alreadyIdle=[idle(ONE)]))
    assert showcaller("wait", ONE).code == 0
    assert len(asked(relay)) == 1


def test_wait_ends_with_one_when_its_time_is_up(showcaller: ShowCaller, relay: FakeRelay) -> None:
    answers(relay, *[seen(7, timedOut=True)] * 1000)
    ended = showcaller("wait", ONE, "--timeout", "1ms", "--json")
    assert ended.code == 1
    assert json.loads(ended.out)["timedOut"] is True
    assert "--since 7" in ended.err


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("REMOTE_RELAY_OFFLINE", 4),
        ("REMOTE_RELAY_UNAVAILABLE", 4),
        ("REMOTE_RELAY_NOT_FOUND", 3),
        ("REMOTE_RELAY_INVALID_INPUT", 2),
    ],
)
def test_a_refusal_ends_with_the_code_that_it_stands_for_and_names_the_last_cursor(
    showcaller: ShowCaller, relay: FakeRelay, code: str, exit_code: int
) -> None:
    answers(relay, seen(7), {"ok": False, "code": code, "error": "It went away."})
    ended = showcaller("wait", ONE)
    assert (ended.code, ended.out) == (exit_code, "")
    assert "It went away." in ended.err
    assert ("--since 7" in ended.err) is (exit_code != 2)


@pytest.mark.parametrize("command", ["events", "monitor"])
def test_a_cursor_that_the_relay_did_not_give_is_not_recommended(
    showcaller: ShowCaller, relay: FakeRelay, command: str
) -> None:
    answers(relay, {"ok": False, "code": "REMOTE_RELAY_INVALID_INPUT", "error": "999 is ahead of the log."})
    ended = showcaller(command, "--since", "999")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "Error: 999 is ahead of the log.\n"


def test_a_policy_cannot_be_waited_for_yet_and_is_named(showcaller: ShowCaller, relay: FakeRelay) -> None:
    ended = showcaller("wait", "--policy", "night\x1b")
    assert (ended.code, ended.out, relay.calls) == (2, "", [])
    assert "no policies" in ended.err
    assert "night" in ended.err
    assert "\x1b" not in ended.err
    assert "policy" not in showcaller("wait", "--help").out


def test_json_of_an_empty_data_folder_is_json(
    showcaller: ShowCaller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOWCALLER_HOME", str(tmp_path / "none"))
    assert showcaller("events", "--json").out == '{"next":0}\n'
    told = json.loads(showcaller("monitor", "--json").out)
    assert (told["fired"], told["pending"], told["next"], told["gap"]) == ([], [], 0, None)


def test_waiting_without_a_relay_says_that_nothing_happens(
    showcaller: ShowCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "running_relay", lambda _: None)
    for command in (("wait", ONE), ("monitor", "--follow"), ("events", "--follow")):
        ended = showcaller(*command)
        assert (ended.code, ended.out) == (4, "")
        assert "No relay runs" in ended.err


def test_bad_options_are_usage_errors(showcaller: ShowCaller) -> None:
    for command in (("wait",), ("wait", ONE, "--until", "noon"), ("events", "--limit", "0")):
        assert showcaller(*command).code == 2


def test_monitor_tells_all_that_fired_and_all_that_is_pending_at_once(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    pending = [{**idle(TWO), "state": "running_turn"}]
    answers(relay, seen(9, event(ONE, 9), pending=pending, gap=4))
    told = json.loads(showcaller("monitor", "--since", "3", "--json").out)
    assert asked(relay) == [(None, 3, False)]
    assert (told["fired"][0]["cursor"], told["pending"], told["next"], told["gap"]) == (9, pending, 9, 4)
    assert "ok" not in told


def test_monitor_follow_writes_a_line_for_each_event(showcaller: ShowCaller, relay: FakeRelay) -> None:
    gone = {"ok": False, "code": "REMOTE_RELAY_OFFLINE", "error": "It went away."}
    answers(relay, seen(7), seen(9, event(ONE, 8), event(TWO, 9)), gone)
    ended = showcaller("monitor", "--follow", "--json")
    assert ended.code == 4
    first, *lines, last = map(json.loads, ended.out.splitlines())
    assert (last["ok"], last["code"], last["wayOut"]) == (False, gone["code"], ended.err.splitlines()[-1])
    assert first == {"pending": [], "next": 7}
    assert [line["cursor"] for line in lines] == [8, 9]
    assert "--since 9" in ended.err


def test_events_come_page_by_page_and_end_with_the_cursor(showcaller: ShowCaller, relay: FakeRelay) -> None:
    page = {"ok": True, "events": [event(ONE, 5)], "next": 5, "gap": 5, "more": True}
    answers(relay, page, {**page, "events": [event(TWO, 6)], "next": 6, "gap": None, "more": False})
    ended = showcaller("events", "--since", "2", "--limit", "10", "--json")
    assert [next(iter(json.loads(line))) for line in ended.out.splitlines()] == [
        "gap",
        "cursor",
        "cursor",
        "next",
    ]
    assert [(call["since"], call["limit"]) for call in relay.calls] == [(2, 10), (5, 9)]


def test_what_agents_wrote_cannot_steer_the_terminal(showcaller: ShowCaller, relay: FakeRelay) -> None:
    hostile = {**event(ONE, 5), "title": "\x1b[2J", "text": "\x1b]0;x\x07"}
    answers(relay, {"ok": True, "events": [hostile], "next": 5, "gap": None, "more": False})
    assert "\x1b" not in showcaller("events").out


def test_a_limit_without_a_cursor_gives_the_newest_events_however_far_back_they_are(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    log = [event(ONE, cursor) for cursor in (3, 4, 90, 99)]  # some cursors were never given

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        if call["action"] == "monitor":
            return seen(100)
        after = [each for each in log if each["cursor"] > call["since"]][:2]
        more = bool(after) and after[-1] is not log[-1]
        end = after[-1]["cursor"] if more else 100
        return {
            "ok": True,
            "events": after,
            "next": end,
            "gap": 3 if call["since"] < 2 else None,
            "more": more,
        }

    relay.answer = answer

    def told(limit: str) -> list[Any]:
        ended = showcaller("events", "--limit", limit, "--json")
        return [json.loads(line) for line in ended.out.splitlines()]

    assert [line.get("cursor", line) for line in told("1")] == [99, {"next": 100}]
    assert [line.get("cursor", line) for line in told("3")] == [4, 90, 99, {"next": 100}]
    assert [line.get("cursor", line) for line in told("5")] == [{"gap": 3}, 3, 4, 90, 99, {"next": 100}]
