"""A relay that runs on its own, as a process, for the tests of a module or of one test."""

import json
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from showcaller.transport.worker.process_identity import signal_process
from showcaller.transport.worker.remains import end_remains
from showcaller.transport.worker.worker_folder import WorkerCard, worker_folders
from tests.e2e.program import Showcaller


class Daemon(NamedTuple):
    """A ready daemon: its process, and where it keeps and listens."""

    process: "subprocess.Popen[str]"
    home: Path
    port: int

    @property
    def token(self) -> str:
        """The owner's token."""
        return (self.home / "token").read_text().strip()

    @property
    def owner(self) -> httpx.Client:
        """A client that has the owner's token."""
        return httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"authorization": f"Bearer {self.token}"},
            timeout=60,
            trust_env=False,
        )


@contextmanager
def serving(showcaller: Showcaller, *options: str) -> Generator[Daemon]:
    """Start a daemon and wait until it is ready; it and its workers are gone after the ``with``."""
    try:
        with showcaller.start("serve", *options) as process:
            assert process.stdout is not None
            ready = process.stdout.readline()
            assert "listens on http://127.0.0.1:" in ready, finish_with(process)
            told: dict[str, Any] = json.loads((showcaller.home / "relay.json").read_text())
            assert f"http://127.0.0.1:{told['port']} (process {process.pid})" in ready
            yield Daemon(process, showcaller.home, told["port"])
    finally:
        end_workers(showcaller.home)


def living_workers(home: Path) -> list[WorkerCard]:
    """Give the worker processes of a data folder that are there."""
    cards = [folder.read() for folder in worker_folders(home / "workers")]
    return [card for card in cards if card is not None and card.is_alive]


def end_workers(home: Path) -> None:
    """Kill the workers that a relay has left, and what they have started."""
    for card in living_workers(home):
        for process in (card.guardian_process, card.process):
            if process is not None:
                signal_process(process, signal.SIGKILL)
        assert card.marker is not None
        end_remains([card.marker])


def finish_with(process: "subprocess.Popen[str]") -> str:
    """Give what a process that should have run has written."""
    return "".join(process.communicate(timeout=60))
