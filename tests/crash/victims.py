"""The processes of one daemon: starting it, finding its writer, workers and guardians, and killing them."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Final

import httpx

from tests.crash.failpoints import EXIT
from tests.e2e.daemon import end_workers, living_workers
from tests.e2e.program import LIMIT, PROGRAM
from tests.transport.worker.stage import processes_with

KINDS: Final = (
    "relay",
    "writer",
    "worker",
    "guardian",
    "relay+writer",
    "relay+worker",
    "worker+writer",
    "worker+guardian",
    "relay+writer+worker",
    "relay+worker+guardian",
    "relay politely",
    "worker politely",
)
SPARE_DESCRIPTORS: Final = 16
SPARE_THREADS: Final = 16


class Victims:
    """A daemon on a data folder below ``place``. Every process that stems from it has a mark of its own.

    ``program`` starts it, in an environment that has ``variables`` besides.
    """

    def __init__(
        self,
        place: Path,
        program: Sequence[str] = (str(PROGRAM),),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._program = program
        self._variables = {} if variables is None else variables
        self.home = place / "home"
        self.log = place / "log"
        self._mark = f"CRASH_MARK={token_hex(16)}"
        self._process: subprocess.Popen[str] | None = None
        self._fresh = (0, 0)

    @property
    def runs(self) -> bool:
        """Whether there is a relay."""
        return self._process is not None and self._process.poll() is None

    @property
    def _relay(self) -> "subprocess.Popen[str]":
        assert self._process is not None
        return self._process

    def start(self) -> None:
        """Start a relay on the folder until one is ready: it may end at a failpoint before."""
        while not self._gets_ready():
            code = self._relay.wait(LIMIT)
            assert code in {EXIT, -signal.SIGKILL}, self.log.read_text()[-4000:]
        self._fresh = self._used()

    def _gets_ready(self) -> bool:
        name, _, value = self._mark.partition("=")
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [*self._program, "--home", str(self.home), "serve", "--workers", "2"],
                env={**os.environ, **self._variables, name: value},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        assert self._process.stdout is not None
        if "listens on" in self._process.stdout.readline():
            return True
        self._process.stdout.close()
        return False

    def await_end(self) -> None:
        """Wait for the relay's end, which a broken connection has told of."""
        self._relay.wait(LIMIT)
        assert self._relay.stdout is not None
        self._relay.stdout.close()

    def start_again(self) -> None:
        """Start a relay if there is none."""
        if not self.runs:
            self.await_end()
            self.start()

    def client(self) -> httpx.Client:
        """A client with the owner's token, of the relay that runs."""
        port = json.loads((self.home / "relay.json").read_text())["port"]
        token = (self.home / "token").read_text().strip()
        return httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"authorization": f"Bearer {token}"},
            timeout=90,
            trust_env=False,
        )

    def kill(self, kind: str) -> None:
        """Kill those that ``kind`` names, all at once, as far as they are there."""
        names, _, politely = kind.partition(" ")
        number = signal.SIGTERM if politely else signal.SIGKILL
        for pid in [pid for name in names.split("+") for pid in self._find(name)]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
        if "relay" in names:
            self.await_end()

    def _find(self, name: str) -> list[int]:
        if name == "relay":
            return [self._relay.pid]
        if name == "writer":
            return [pid for pid in _children(self._relay.pid) if "showcaller.store" in _command_line(pid)]
        cards = living_workers(self.home)
        pids = [card.pid if name == "worker" else card.guardian for card in cards]
        return [pid for pid in pids if pid is not None]

    def _used(self) -> tuple[int, int]:
        folder = Path(f"/proc/{self._relay.pid}")
        return len(list((folder / "fd").iterdir())), len(list((folder / "task").iterdir()))

    def leaks(self) -> list[str]:
        """Give what the relay holds more of than when it was fresh."""
        descriptors, threads = (now - fresh for now, fresh in zip(self._used(), self._fresh, strict=True))
        found = []
        if descriptors > SPARE_DESCRIPTORS:
            found.append(f"the relay has {descriptors} descriptors more than when it was fresh")
        if threads > SPARE_THREADS:
            found.append(f"the relay has {threads} threads more than when it was fresh")
        return found

    def stop(self) -> list[str]:
        """Stop relay and workers in order; give the processes and files that are left."""
        stopped = subprocess.run(
            [str(PROGRAM), "--home", str(self.home), "stop", "--workers"],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert self._relay.stdout is not None
        self._relay.stdout.close()
        found = [] if stopped.returncode == 0 else [f"stop ended with {stopped.returncode}: {stopped.stderr}"]
        found += [f"process {pid} is left: {_command_line(pid)}" for pid in self._left()]
        kept = {"relay.db", "token", "lock", "log", "started", "port"}
        found += [
            f"{path.relative_to(self.home)} is left"
            for path in self.home.rglob("*")
            if path.name not in kept and not (path.name == "workers" and path.is_dir())
        ]
        return found

    def _left(self) -> list[int]:
        return [pid for pid in processes_with(self._mark) if not _ends(pid)]

    def clear(self) -> None:
        """Kill everything that is there, for whoever comes next."""
        if self._process is not None:
            self._process.kill()
            self.await_end()
        end_workers(self.home)
        for pid in processes_with(self._mark):
            os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return "it is gone"


def _ends(pid: int) -> bool:
    """Whether a process ends inside a limit."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 10.0)[0])
    finally:
        os.close(descriptor)


if sys.platform != "linux":
    raise RuntimeError("these tests look for processes in /proc")
