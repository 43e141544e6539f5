"""Workers as child processes of the relay that outlive it: started, found again, and watched."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from secrets import token_urlsafe

from showcaller.transport.links.sockets import WorkerHub
from showcaller.transport.links.workers import WorkerLink
from showcaller.transport.placement.deaths import DeathWatch
from showcaller.transport.placement.pool import Worker
from showcaller.transport.worker.options import WorkerOptions
from showcaller.transport.worker.process_identity import ProcessIdentity, identify, signal_process
from showcaller.transport.worker.worker_folder import WorkerCard, WorkerFolder, worker_folders

logger = logging.getLogger("showcaller.workers")


class LocalWorker:
    """A worker process that is alive, or was when it was found; ``link`` reaches it."""

    def __init__(
        self, folder: WorkerFolder, card: WorkerCard, link: WorkerLink, process: ProcessIdentity
    ) -> None:
        self.folder = folder
        self.name = card.name
        self.link = link
        self.process = process


class LocalPlacement:
    """Starts worker processes in folders of their own below ``parent``, and finds those started before.

    Whoever uses it holds the lock of the data folder. Thread-safe.
    """

    def __init__(self, parent: Path, address: str, hub: WorkerHub) -> None:
        self._parent = parent
        self._address = address
        self._hub = hub
        self._deaths = DeathWatch()
        self._processes: dict[str, ProcessIdentity] = {}

    def find(self) -> tuple[list[LocalWorker], list[WorkerFolder]]:
        """Give the workers that an earlier relay has started: those alive, and the folders of those dead.

        Raises ForeignWorkerError for one that is alive and whose card is none that we know.
        """
        alive: list[LocalWorker] = []
        dead: list[WorkerFolder] = []
        for folder in worker_folders(self._parent):
            card = folder.read()
            if card is None or card.pid is None or not card.is_alive:
                dead.append(folder)
            else:
                alive.append(self._take(folder, card, ProcessIdentity(card.pid, card.started)))
        return alive, dead

    def start(self, name: str) -> LocalWorker:
        """Start a worker. Raises OSError, and may be tried again."""
        folder = WorkerFolder(self._parent / name)
        folder.make()
        token = token_urlsafe(24)
        options = WorkerOptions(name=name, address=self._address, token=token, folder=str(folder.path))
        child = _spawn(folder.log)
        assert child.stdin is not None
        with child.stdin as pipe:
            process = identify(child.pid)
            card = WorkerCard(name=name, token=token, pid=process.pid, started=process.started)
            # Before it has its options: a relay that dies here leaves none that runs and that nobody knows.
            folder.write(card)
            pipe.write(options.model_dump_json().encode() + b"\n")
        logger.info("Worker %s runs as process %d", name, process.pid)
        return self._take(folder, card, process)

    def watch(self, worker: Worker, died: Callable[[], None]) -> None:
        """Call ``died`` once, on the watch's thread, when the worker has died."""
        self._deaths.watch(self._processes[worker.name], died)

    def end(self, worker: str) -> None:
        """Ask a worker to end what it runs and then itself."""
        signal_process(self._processes[worker], signal.SIGTERM)

    def close(self) -> None:
        """Watch no more; the workers go on."""
        self._deaths.close()

    def _take(self, folder: WorkerFolder, card: WorkerCard, process: ProcessIdentity) -> LocalWorker:
        self._processes[card.name] = process
        return LocalWorker(folder, card, WorkerLink(self._hub.expect(card.name, card.token)), process)


def _spawn(log: Path) -> "subprocess.Popen[bytes]":
    """Start the process in a session of its own; it waits for its options on a pipe that no other has."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "showcaller.transport.worker"],
            stdin=subprocess.PIPE,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
        )
    finally:
        os.close(descriptor)
    process.returncode = 0  # the watch reaps it; nobody else waits
    return process
