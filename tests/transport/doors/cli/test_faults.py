"""An error that nobody foresaw is told in a line, and in full only on request."""

import errno
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from showcaller.transport.doors.cli.exits import CommandError
from showcaller.transport.doors.cli.faults import DEBUG_VARIABLE, FEWEST_DESCRIPTORS, check_descriptors
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay


def plant(relay: FakeRelay, error: Exception) -> None:
    def fail(call: Mapping[str, Any]) -> dict[str, Any]:
        raise error

    relay.answer = fail


def test_a_mistake_of_ours_is_told_by_its_type_and_text_without_a_traceback(
    showcaller: ShowCaller, relay: FakeRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DEBUG_VARIABLE, raising=False)
    plant(relay, LookupError("no such\x1b thing"))
    ended = showcaller("sessions")
    assert (ended.code, ended.out) == (1, "")
    first, second = ended.err.splitlines()
    assert first == "Error: This is a mistake of Showcaller's, not of yours: LookupError: no such\\x1b thing"
    assert f"{DEBUG_VARIABLE}=1" in second
    assert relay.closed == 1


def test_the_traceback_of_a_mistake_of_ours_comes_on_request(
    showcaller: ShowCaller, relay: FakeRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DEBUG_VARIABLE, "1")
    plant(relay, LookupError("no such thing"))
    ended = showcaller("sessions")
    assert (ended.code, ended.out) == (1, "")
    assert "Traceback (most recent call last)" in ended.err
    assert "test_faults.py" in ended.err


def test_an_interrupt_that_python_wrapped_is_an_interrupt(showcaller: ShowCaller, relay: FakeRelay) -> None:
    class Interrupting:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    def make_class(call: Mapping[str, Any]) -> dict[str, Any]:
        try:
            type("Made", (), {"field": Interrupting()})
        except KeyboardInterrupt as interrupt:  # Python 3.12 and later let it through
            raise RuntimeError("wrapped") from interrupt
        return {}

    relay.answer = make_class
    assert showcaller("sessions") == (130, "", "Interrupted.\n")


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_descriptors_that_run_out_are_told_with_the_way_to_have_more(
    showcaller: ShowCaller, relay: FakeRelay, number: int
) -> None:
    plant(relay, OSError(number, os.strerror(number)))
    assert showcaller("sessions") == (
        1,
        "",
        "Error: There are too few file descriptors.\nAllow more before the command: ulimit -n 1024\n",
    )


def test_a_limit_on_descriptors_that_is_too_low_is_told_before_anything_begins() -> None:
    for enough in (FEWEST_DESCRIPTORS, 1024, -1):
        check_descriptors(enough)
    with pytest.raises(CommandError, match=r"12 allowed, 64 needed"):
        check_descriptors(12)


def shell(line: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Carry out one line in which ``$S`` is the program, on a data folder of its own."""
    environment = {**os.environ, "SHOWCALLER_HOME": str(folder / "data"), "FOLDER": str(folder)}
    line = line.replace("$S", '"$0" -m showcaller')
    return subprocess.run(
        ["bash", "-c", line, sys.executable],
        env=environment,
        cwd=Path.cwd(),
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("$S fanout 'echo {}' --input - <&-", 2, "standard input: it is closed"),
        ("$S fanout --help >/dev/full", 1, "standard output: No space left on device"),
        ("$S --help >/dev/full", 1, "standard output: No space left on device"),
        ("$S --version >/dev/full", 1, "standard output: No space left on device"),
        ("$S sessions --json >&-", 1, "standard output: Bad file descriptor"),
        ("ulimit -n 20; $S fanout 'echo {}' a", 1, "ulimit -n 1024"),
        ("$S --home '' sessions", 2, "--home names no folder"),
        ("$S sessions --home ''", 2, "--home names no folder"),
        ("$S --home '~nosuchuser/x' sessions", 2, "there is no home folder for '~nosuchuser'."),
        ("$S fanout 'echo {}' a 2>&- >&- <&-", 1, ""),
    ],
)
def test_an_odd_beginning_is_told_without_a_traceback(
    tmp_path: Path, line: str, code: int, said: str
) -> None:
    ended = shell(line, tmp_path)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "arguments", ["--home x sessions", "fanout 'echo {}' a", "fanout --home x 'echo {}' a"]
)
def test_a_present_folder_that_is_gone_is_told(tmp_path: Path, arguments: str) -> None:
    gone = 'mkdir "$FOLDER/gone" && cd "$FOLDER/gone" && rmdir "$FOLDER/gone" && '
    program = '"$0" -P -c "from showcaller.entry import main; main()"'
    root = os.fspath(Path.cwd())
    ended = shell(f'export PYTHONPATH="{root}"; {gone} {program} {arguments}', tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "present folder is gone" in ended.stderr
    assert "Traceback" not in ended.stderr
