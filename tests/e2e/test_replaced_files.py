"""What lies in the place of a relay's files keeps nobody waiting, and is named with the way out."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.daemon import serving
from tests.e2e.program import Bell, Showcaller, finish

WORKER = "workers/wrk_aaaaaaaaaaaa"


def a_pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


def a_link(path: Path) -> None:
    path.symlink_to("elsewhere")


REFUSED: list[tuple[str, Callable[[Path], object], str]] = [
    ("token", a_pipe, "it is a pipe and no ordinary file. Move it away"),
    ("token", Path.mkdir, "it is a folder and no ordinary file. Move it away"),
    ("token", a_link, "it is a symbolic link and no ordinary file. Move it away"),
    ("lock", a_pipe, "it is a pipe and no ordinary file. Move it away"),
    ("lock", a_link, "it is a symbolic link and no ordinary file. Move it away"),
    ("relay.json", Path.mkdir, "Move it away"),
    ("links", Path.mkdir, "in the place of the socket for workers, and a folder. Move it away"),
    ("workers", a_pipe, "in the place of the folder for workers, and no folder. Move it away"),
    ("workers", Path.touch, "in the place of the folder for workers, and no folder. Move it away"),
    (f"{WORKER}/worker.json", a_pipe, "it is a pipe and no ordinary file; move it away"),
]


@pytest.mark.parametrize(("name", "instead", "words"), REFUSED)
def test_a_relay_does_not_start_over_what_is_no_file_of_its_own(
    showcaller: Showcaller, name: str, instead: Callable[[Path], object], words: str
) -> None:
    path = showcaller.home / name
    path.parent.mkdir(parents=True, mode=0o700)
    instead(path)
    ended = showcaller("serve")
    assert (ended.code, ended.out) == (1, "")
    assert str(path) in ended.err
    assert words in " ".join(ended.err.split())
    assert "Traceback" not in ended.err


def test_a_pipe_in_the_place_of_the_address_keeps_no_command_waiting(showcaller: Showcaller) -> None:
    showcaller.home.mkdir(mode=0o700)
    a_pipe(showcaller.home / "relay.json")
    ended = showcaller("status")
    assert ended.code == 3
    assert "No relay runs" in ended.err
    assert showcaller("fanout", "echo {}", "a").code == 0


def test_all_commands_find_a_relay_whose_address_was_deleted(showcaller: Showcaller) -> None:
    with serving(showcaller) as daemon:
        (showcaller.home / "relay.json").unlink()
        assert showcaller("status").code == 0
        assert f"process {daemon.process.pid}, http://" in showcaller("serve").err
        assert showcaller("sessions", "--json").code == 0
        ended = showcaller("stop", "--workers")
        assert ended.code == 0, ended.err
        assert showcaller("status").code == 3


def test_status_and_stop_name_a_command_that_is_a_relay_by_itself(showcaller: Showcaller, bell: Bell) -> None:
    with showcaller.start("fanout", f"{bell.ring}; {bell.wait}", "a", "--json") as running:
        assert bell.hear(1) == ["a"]
        for command in ("status", "stop"):
            ended = showcaller(command)
            assert ended.code == 3
            assert f"process {running.pid} holds it" in ended.err
        bell.open_gate(1)
        assert finish(running).code == 0
