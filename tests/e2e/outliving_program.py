"""A relay whose workers outlive it, one run after the other, as a test starts, asks and kills it."""

import json
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from showcaller.transport.worker.process_identity import signal_process
from showcaller.transport.worker.worker_folder import WorkerCard
from tests.e2e.daemon import end_workers, living_workers

LIMIT = 60


class Program:
    """One run of the relay after the other, over one folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.process = self.start()

    def start(self) -> "subprocess.Popen[str]":
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.outliving_relay", str(self.home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self.process

    def do(self, what: str, **more: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": what, **more}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def call(self, action: str, **arguments: Any) -> dict[str, Any]:
        result = self.do("call", action=action, **arguments)
        assert result["ok"], result
        return result  # type: ignore[no-any-return]

    def wait(self, prompt: dict[str, Any], seconds: int = LIMIT) -> dict[str, Any]:
        named = {"session": prompt["session"], "message_id": prompt["message_id"]}
        return self.call("wait", **named, wait_seconds=seconds)

    def kill(self) -> None:
        self.process.kill()
        self._reap()

    def leave(self) -> None:
        assert self.do("leave", end=True) == "left"
        self._reap()

    def _reap(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.wait(LIMIT)
        self.process.stdin.close()
        self.process.stdout.close()

    def worker(self) -> WorkerCard:
        (card,) = living_workers(self.home)
        return card

    def kill_those(self, named: str) -> None:
        """Kill relay, worker and guardian as far as they are named; a relay gets another in its place."""
        worker = self.worker()
        if "relay" in named:
            self.kill()
        for name, process in (("guardian", worker.guardian_process), ("worker", worker.process)):
            assert process is not None
            assert name not in named or signal_process(process, signal.SIGKILL)
        if "relay" in named:
            self.start()


@contextmanager
def outliving(home: Path) -> Generator[Program]:
    """Give such a relay in a new folder, of which nothing runs afterwards."""
    home.mkdir(mode=0o700)
    program = Program(home)
    try:
        yield program
    finally:
        if program.process.poll() is None:
            program.kill()
        end_workers(home)
