"""The program of a process of functions, started by hand: what it needs, and how it ends."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from showcaller.transport.worker.function_child_messages import call_message, cancel_message, to_frame
from showcaller.transport.worker.function_child_process import PROGRAM
from showcaller.transport.worker.function_sources import Sources

LIMIT = 20.0

JOBS = """
import __main__, asyncio, atexit, threading
def twice(item): return item * 2
def wait(item):
    threading.Event().wait(60)
def keep_alive(item):
    __main__.LAST_WORDS = 0.05
    threading.Thread(target=threading.Event().wait, args=(60,)).start()
def never_tidy(item):
    __main__.LAST_WORDS = 0.05
    atexit.register(threading.Event().wait, 60)
async def later(item, ctx):
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return f"cancelled {ctx.cancelled}"
"""


class Peer:
    """Plays the worker for one process, which has neither packages nor an environment."""

    def __init__(self, folder: Path) -> None:
        (folder / "jobs.py").write_text(JOBS)
        self.line, its = socket.socketpair()
        self.line.settimeout(LIMIT)
        with closing(its):
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-P", PROGRAM, str(its.fileno()), folder],
                pass_fds=[its.fileno()],
                cwd=folder,
                env={},
            )
        self._frames = self.line.makefile("rb")
        self._heard: list[dict[str, Any]] = []

    def say(self, *messages: dict[str, Any]) -> None:
        self.line.sendall(to_frame(messages))

    def call(self, number: int, function: str, item: object = None) -> None:
        self.say(call_message(number, f"jobs:{function}", "", json.dumps(item), {}))

    def hear(self, kind: str) -> dict[str, Any]:
        """Give the next message of a kind, without those before it."""
        while True:
            while not self._heard:
                size = int.from_bytes(self._frames.read(4), "big")
                self._heard = json.loads(self._frames.read(size))
            message = self._heard.pop(0)
            if message["kind"] == kind:
                return message

    def hang_up(self) -> int:
        """Be gone, and give the exit code of the process."""
        self.line.shutdown(socket.SHUT_RDWR)
        return self.process.wait(LIMIT)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._frames.close()
        self.line.close()


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    peer = Peer(tmp_path)
    yield peer
    peer.close()


def test_it_needs_the_standard_library_alone(peer: Peer) -> None:
    peer.hear("ready")
    peer.call(1, "twice", 21)
    assert peer.hear("begun") == {"kind": "begun", "call": 1}
    end = {"kind": "ended", "call": 1, "reply": "42", "truncated": False, "error": None}
    assert peer.hear("ended") == end


def test_a_call_that_is_cancelled_with_its_start_still_takes_its_first_step(peer: Peer) -> None:
    peer.call(1, "later")
    peer.hear("begun")
    peer.say(cancel_message(1), cancel_message(1), cancel_message(7))
    assert peer.hear("ended")["reply"] == "cancelled True"
    peer.call(2, "later")
    peer.say(cancel_message(2))
    assert peer.hear("ended")["reply"] in {"cancelled True", ""}, "it had begun, or never will"


@pytest.mark.parametrize("function", ["wait", "later"])
def test_it_ends_at_once_when_its_worker_is_gone_whatever_runs(peer: Peer, function: str) -> None:
    peer.call(1, function)
    peer.hear("begun")
    assert peer.hang_up() == 0


@pytest.mark.parametrize("function", ["twice", "never_tidy", "keep_alive"])
def test_it_ends_when_its_worker_hangs_up_and_does_not_wait_long_for_what_is_left(
    peer: Peer, function: str
) -> None:
    peer.call(1, function, 1)
    peer.hear("ended")
    assert peer.hang_up() == 0


def test_sources_change_when_a_file_is_written_replaced_or_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sources_one", "sources_two"):
        (tmp_path / f"{name}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    sources, elsewhere = Sources(str(tmp_path)), Sources(str(tmp_path / "sources"))
    __import__("sources_one")
    for each in (sources, elsewhere):
        each.note()
    (tmp_path / "sources_two.py").write_text("not imported")
    assert not sources.have_changed()
    (tmp_path / "sources_one.py").write_text("changed = True")
    assert sources.have_changed()
    (tmp_path / "sources_one.py").unlink()
    sources.note()
    assert sources.have_changed()
    assert not elsewhere.have_changed()
    assert not Sources(None).have_changed()
    monkeypatch.delitem(sys.modules, "sources_one")
