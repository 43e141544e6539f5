"""How a failed command is told, and to whom: the person, and with ``--json`` the program too."""

import json
from collections.abc import Mapping
from typing import Any

import click
import pytest

from showcaller.transport.doors.cli.exits import NOT_FOUND, UNREACHABLE, USAGE, CommandError
from showcaller.transport.doors.cli.failures import failure_object, wants_json
from showcaller.transport.doors.cli.group import COMMANDS
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("show x --json", True),
        ("--home /x show --json x", True),
        ("show x", False),
        ("new -- --json", False),
        ("fanout 'x {}' a --format jsonl", True),
        ("fanout 'x {}' a --format=JSONL", True),
        ("fanout 'x {}' a --format csv", False),
        ("call {}", True),
        ("mcp --json", False),
        ("--nonsense", False),
        ("--nonsense --json", True),
    ],
)
def test_a_command_line_asks_for_json_or_does_not(line: str, wanted: bool) -> None:
    assert wants_json(line.split(), COMMANDS) is wanted


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CommandError("So."), "CALL_FAILED"),
        (CommandError("So.", code=NOT_FOUND), "NOT_FOUND"),
        (CommandError("So.", code=USAGE), "INVALID_INPUT"),
        (CommandError("So.", code=UNREACHABLE), "UNAVAILABLE"),
        (CommandError("So.", code=NOT_FOUND, refusal="REMOTE_RELAY_UNKNOWN"), "UNKNOWN"),
        (click.UsageError("So."), "INVALID_INPUT"),
    ],
)
def test_a_failure_has_the_contracts_code(error: click.ClickException, code: str) -> None:
    assert failure_object(error) == {"ok": False, "code": f"REMOTE_RELAY_{code}", "error": "So."}


def test_what_a_refusal_tells_besides_comes_with_it(showcaller: ShowCaller, relay: FakeRelay) -> None:
    refusal = {"ok": False, "code": "REMOTE_RELAY_STORAGE", "error": "Full.\x1b", "retryAfterSeconds": 3}
    relay.answer = lambda call: refusal
    ended = showcaller("sessions", "--json")
    assert (ended.code, ended.out.count("\n"), json.loads(ended.out)) == (1, 1, refusal)
    assert ended.err == "Error: Full.\\x1b\n"
    assert "\x1b" not in ended.out


def test_a_mistake_of_ours_is_an_object_too(showcaller: ShowCaller, relay: FakeRelay) -> None:
    def fail(call: Mapping[str, Any]) -> dict[str, Any]:
        raise LookupError("no such thing")

    relay.answer = fail
    told = json.loads(showcaller("sessions", "--json").out)
    assert (told["ok"], "no such thing" in told["error"], "SHOWCALLER_DEBUG" in told["wayOut"]) == (
        False,
        True,
        True,
    )


def test_the_beginning_of_several_ids_lists_the_sessions_with_their_titles(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    ids = ["ses_3f9c2a000001", "ses_3f9c2a000002"]

    def answer(call: Mapping[str, Any]) -> dict[str, Any]:
        if call["session"] in ids:
            return {"ok": True, "session": {"id": call["session"], "title": f"title {call['session'][-1]}"}}
        error = "'3f9c2a' can mean several sessions: name one by its id."
        return {
            "ok": False,
            "code": "REMOTE_RELAY_INVALID_INPUT",
            "error": error,
            "ambiguous": True,
            "sessions": ids,
        }

    relay.answer = answer
    ended = showcaller("show", "3f9c2a")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines() == [
        "Error: '3f9c2a' can mean several sessions: name one by its id.",
        "  ses_3f9c2a000001    no group  title 1",
        "  ses_3f9c2a000002    no group  title 2",
    ]


def test_of_a_whole_id_the_relay_says_what_became_of_it(showcaller: ShowCaller, relay: FakeRelay) -> None:
    relay.answer = lambda call: {"ok": False, "code": "REMOTE_RELAY_NOT_FOUND", "error": "It was deleted."}
    ended = showcaller("show", "ses_3f9c2a1e07bd")
    assert (ended.code, "It was deleted." in ended.err, "showcaller sessions" in ended.err) == (3, True, True)
    assert [call["action"] for call in relay.calls] == ["read_session"], "no title is looked for"
