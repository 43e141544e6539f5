"""The group: help, version, the data folder, exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from showcaller.actors.contract.fanout.results import KEPT
from showcaller.transport.doors.cli.group import COMMANDS, NEED_A_RELAY, NEED_A_RELAY_WITH, Commands
from showcaller.transport.doors.cli.home import data_folder
from showcaller.transport.doors.start_error import RelayStartError
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), *((name, "--help") for name in COMMANDS)])
def test_help_has_an_example_and_goes_to_standard_output(
    showcaller: ShowCaller, arguments: tuple[str, ...]
) -> None:
    ended = showcaller(*arguments)
    assert ended.code == 0
    assert "Example" in ended.out
    assert ended.err == ""


def test_the_help_names_every_command_and_every_exit_code(showcaller: ShowCaller) -> None:
    help_text = showcaller("--help").out
    assert all(name in help_text for name in COMMANDS)
    assert all(f"  {code} " in help_text for code in (0, 1, 2, 3, 4, 130, 141))


def test_no_heading_is_cut(showcaller: ShowCaller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    headings = showcaller("--help").out.rpartition("Commands:")[2].strip().splitlines()
    assert len(headings) == len(COMMANDS)
    assert [line for line in headings if not line.endswith(".") or line.endswith("..")] == []


def test_the_help_says_where_the_platform_keeps_the_data_folder(
    showcaller: ShowCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SHOWCALLER_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    words = " ".join(showcaller("--help").out.split())
    assert f"~/{data_folder(None).relative_to(Path.home().resolve())}" in words


def test_the_help_of_a_fan_out_says_what_its_function_gets_and_what_is_kept(showcaller: ShowCaller) -> None:
    words = " ".join(showcaller("fanout", "--help").out.split())
    for said in (
        "from the present folder first",
        "a word of the command line as text, a line of --input as its JSON value",
        "ctx.cancelled",
        "text as it is, None as nothing, all else as JSON",
        "goes to standard error",
        f"{KEPT // 2**20} MiB is kept",
        "bare number is seconds. [default: no limit]",
        "unless a relay runs there (showcaller serve)",
        "shows the results of a fan-out that has ended once more",
    ):
        assert said in words


def test_every_command_can_write_json() -> None:
    commands = Commands()
    for name in COMMANDS:
        command = commands.get_command(click.Context(commands), name)
        assert command is not None
        below = command.commands.values() if isinstance(command, click.Group) else ()
        for each in (command, *below):
            assert any("--json" in option.opts for option in each.params), (name, each.name)


WORDS = {
    "send": ("x", "y"),
    "new": ("y",),
    "wait": ("x",),
    "go-on": ("x",),
    "restart": ("x",),
    "answer": ("q_3f9c2a1e07bd", "Allow"),
    "unlock": ("3f9c2a1e",),
    "call": ("{}",),
    "fanout": ("echo {}", "a"),
    "completion": ("bash",),
    "delete": ("x", "--yes"),
    "update": ("x", "--title", "y"),
    "backup": ("copy.db",),
    "restore": ("copy.db",),
    **dict.fromkeys(("show", "stop-turn", "kill", "archive", "export"), ("x",)),
}


def test_what_needs_a_relay_that_runs_says_so_and_all_else_works_without_one(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    relay.answer = lambda call: {"ok": False, "code": "REMOTE_RELAY_NOT_FOUND", "error": "There is none."}
    asked = {(name, *WORDS.get(name, ())): name in NEED_A_RELAY for name in COMMANDS}
    asked |= {(name, *WORDS.get(name, ()), option): True for name, option in NEED_A_RELAY_WITH.items()}
    answers = {"status", "stop"}  # whose answer it is that none runs
    runs = {"serve", "mcp"}  # for as long as they are left to; the latter says it in each answer
    for words, needs in asked.items():
        if words[0] in answers | runs:
            continue
        ended = showcaller(*words)
        assert ("No relay runs" in ended.err and ended.code in {3, 4}) is needs, (words, ended)


def test_the_version_is_told(showcaller: ShowCaller) -> None:
    assert showcaller("--version").out == "showcaller, version 1.2.3\n"


def test_the_program_alone_says_what_to_do_first(showcaller: ShowCaller, relay: FakeRelay) -> None:
    ended = showcaller()
    assert ended.code == 0
    for told in (
        "Data folder: ",
        "Relay: none runs",
        "showcaller serve",
        "showcaller new",
        "showcaller doctor",
    ):
        assert told in ended.out
    assert relay.opened == []


@pytest.mark.parametrize("arguments", [("nonsense",), ("sessions", "--nonsense"), ("show",)])
def test_a_wrong_command_line_ends_with_2_and_nothing_on_standard_output(
    showcaller: ShowCaller, arguments: tuple[str, ...]
) -> None:
    ended = showcaller(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert "Usage: showcaller" in ended.err


def test_a_relay_that_cannot_be_opened_is_told_without_a_traceback(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    relay.start_error = RelayStartError("/data/relay.db\x1b is damaged", "Restore a backup of it.")
    ended = showcaller("sessions")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "Error: /data/relay.db\\x1b is damaged\nRestore a backup of it.\n"


def test_the_relay_is_closed_when_a_command_fails(showcaller: ShowCaller, relay: FakeRelay) -> None:
    relay.answer = lambda call: {"ok": False, "code": "REMOTE_RELAY_INTERNAL", "error": "A fault of ours."}
    ended = showcaller("sessions")
    assert ended.code == 1
    assert "A fault of ours." in ended.err


def test_the_data_folder_is_the_named_one_then_the_environments_then_the_platforms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOWCALLER_HOME", str(tmp_path / "by-environment"))
    assert data_folder(str(tmp_path / "x" / ".." / "named")) == tmp_path / "named"
    assert data_folder(None) == tmp_path / "by-environment"
    monkeypatch.setenv("SHOWCALLER_HOME", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert data_folder(None).name == "showcaller"


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("command", [("sessions",), ("show", "ses_3f9c2a"), ("fanout", "echo {}", "a")])
def test_the_data_folder_may_be_named_before_or_after_the_command(
    showcaller: ShowCaller, relay: FakeRelay, tmp_path: Path, command: tuple[str, ...], place: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "relay.db").touch()
    named = ("--home", str(other))
    relay.answer = lambda call: {"ok": True, "sessions": [], "session": {"id": "x", "state": "idle"}}
    assert showcaller(*(named + command if place == "before" else command + named)).code == 0
    assert [folder for folder, _ in relay.opened] == [other]


def test_an_interrupted_command_says_so_and_ends_with_130(showcaller: ShowCaller, relay: FakeRelay) -> None:
    def interrupted(call: object) -> dict[str, object]:
        raise KeyboardInterrupt

    relay.answer = interrupted
    assert showcaller("sessions") == (130, "", "Interrupted.\n")
    told = showcaller("sessions", "--json")
    assert (told.code, json.loads(told.out)) == (
        130,
        {"ok": False, "code": "REMOTE_RELAY_CANCELLED", "error": "The command was interrupted."},
    )
    assert showcaller("inbox", "--watch", "--json").out == "", "a signal ends it as it should"


def test_the_command_line_loads_neither_models_nor_sockets_for_its_help() -> None:
    """Help and usage errors are quick because nothing heavy is loaded for them."""
    script = (
        "import sys\n"
        "from showcaller.transport.doors.cli.group import run\n"
        "code = run(['fanout', '--help'], None, '1')\n"
        "heavy = {'pydantic', 'rich', 'peewee', 'zmq', 'pykka', 'asyncio'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "raise SystemExit(code)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
