"""The class that programs embed: its example, how it is opened, and what a reader sees of one that died."""

import inspect
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from showcaller import Relay
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.transport.doors.start_error import RelayStartError


def test_the_example_of_the_class_prints_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = inspect.cleandoc(Relay.__doc__ or "")
    example = text.partition("::\n")[2].partition("The actions are")[0]
    exec(textwrap.dedent(example).replace("date", "pwd"), {})
    assert capsys.readouterr().out == f"done hello\n\n{tmp_path}\n\n"


def test_a_relay_is_opened_not_made() -> None:
    with pytest.raises(TypeError, match=r"Relay\.open"):
        Relay()


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "~nobody-of-that-name/relay"])
def test_text_that_can_be_no_folder_is_refused_in_words(name: str) -> None:
    for opening in (Relay.open, partial(Relay.open, read_only=True), partial(Relay.restore, "copy.db")):
        with pytest.raises(RelayStartError, match="cannot be a data folder"):
            opening(name)


def test_a_copy_never_takes_the_place_of_what_the_relay_keeps(tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(tmp_path / "home")
    with Relay.open(tmp_path / "home") as relay:
        call = {"action": "create_session", "text": "echo kept", "wait_seconds": 60}
        for name in ("home/relay.db-wal", "way/relay.db", "home/lock", "a\0b"):
            with pytest.raises(Refusal, match="Nothing was copied"):
                relay.back_up(tmp_path / name, replace=True)
            assert relay.call(call)["status"] == "done"
    with Relay.open(tmp_path / "home") as relay:
        assert len(relay.call({"action": "list_sessions"})["sessions"]) == 4


@pytest.mark.parametrize("empty", [None, "", "  ", [], {}, [""], {"a": None}])
def test_an_empty_relay_is_this_one_as_when_it_is_left_out(tmp_path: Path, empty: object) -> None:
    with Relay.open(tmp_path / "home") as relay:
        call = {"action": "list_sessions"}
        assert relay.call({**call, "relay": empty}) == relay.call(call)
        assert relay.call({**call, "relay": "another"})["code"] == Code.UNKNOWN


@pytest.mark.parametrize("killed", [True, False])
def test_a_turn_whose_relay_is_gone_reads_as_interrupted(tmp_path: Path, killed: bool) -> None:
    home = tmp_path / "home"
    program = (
        "import sys; from showcaller import Relay\n"
        "relay = Relay.open(sys.argv[1])\n"
        "call = {'action': 'create_session', 'text': 'sleep 60 & wait', 'wait_seconds': 1}\n"
        "print(relay.call(call), flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "'running'" in process.stdout.readline()
        if killed:
            process.kill()
            process.wait()
        with Relay.open(home, read_only=True) as reader:
            (session,) = reader.call({"action": "list_sessions"})["sessions"]
            shown = (session["state"], session.get("lastTurn"))
            message = reader.call({"action": "read_session", "session": session["id"]})["messages"][0]["id"]
            waiting = {"action": "wait", "session": session["id"], "message_id": message, "wait_seconds": 0}
            stands = reader.call(waiting)
        process.kill()
    if killed:
        assert shown == ("idle", "interrupted")
        assert (stands["status"], stands["stopReason"]) == ("failed", "interrupted")
    else:
        assert shown == ("running_turn", None)
        assert stands["status"] == "running"


def test_several_threads_may_close_while_calls_run(tmp_path: Path) -> None:
    relay = Relay.open(tmp_path / "home")
    call = {"action": "create_session", "text": "sleep 60", "wait_seconds": 60}
    with ThreadPoolExecutor(8) as threads:
        calls = [threads.submit(relay.call, call) for _ in range(4)]
        while len(relay.call({"action": "list_sessions", "scope": "active"})["sessions"]) < 4:
            pass
        closers = [threads.submit(relay.close) for _ in range(3)]
        for closer in closers:
            closer.result(timeout=60)
        assert {running.result(timeout=60)["status"] for running in calls} <= {"failed", "queued"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_holds_neither_the_folder_nor_the_writer(tmp_path: Path) -> None:
    program = (
        "import os, sys; from showcaller import Relay\n"
        "relay = Relay.open(sys.argv[1])\n"
        "if os.fork() == 0:\n"
        "    sys.stdin.read(1); os._exit(0)\n"
        "print('forked', flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    arguments = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "home")]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "forked\n"
        assert process.wait(60) == -9
        with Relay.open(tmp_path / "home") as relay:
            assert relay.call({"action": "list_sessions"})["ok"]


class Unruly(str):
    """Text of a program's own kind, which fails when it is treated as text."""

    __slots__ = ()

    def strip(self, *_: object) -> str:
        raise RuntimeError("not this text")


@pytest.mark.parametrize("name", ["action", "relay", "query", "limit"])
def test_a_value_of_a_programs_own_kind_never_makes_a_call_raise_or_the_relay_mistaken(
    tmp_path: Path, name: str
) -> None:
    call = {"action": "list_sessions", "relay": "this", "query": "x", "limit": "5"}
    with Relay.open(tmp_path / "home") as relay:
        assert relay.call({**call, name: Unruly(call[name])})["ok"]


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702])
def test_a_folder_into_which_others_may_write_is_refused_with_how_to_forbid_it(
    tmp_path: Path, mode: int
) -> None:
    home = tmp_path / "a home"
    home.mkdir()
    home.chmod(mode)
    with pytest.raises(RelayStartError, match=f"mode {mode:o}") as refused:
        Relay.open(home)
    assert f"chmod go-w '{home}'" in refused.value.way_out
    assert list(home.iterdir()) == []
    home.chmod(0o755)
    Relay.open(home).close()
