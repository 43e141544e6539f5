"""Workers as child processes of the relay that outlive it: started, found again, and watched."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from errno import ENOENT
from pathlib import Path
from secrets import token_hex, token_urlsafe
from typing import Final

from showcaller.transport.links.conversation import News
from showcaller.transport.links.sockets import WorkerHub
from showcaller.transport.links.workers import WorkerLink, nothing_more
from showcaller.transport.ordinary_files import open_ordinary
from showcaller.transport.placement.pool import Later, Worker
from showcaller.transport.placement.proofs import Proofs, bury, latest
from showcaller.transport.worker.options import WorkerOptions
from showcaller.transport.worker.process_identity import identify, signal_process
from showcaller.transport.worker.process_table import markers_around
from showcaller.transport.worker.remains import WORKERS_VARIABLE
from showcaller.transport.worker.worker_folder import WorkerCard, WorkerFolder, worker_folders

logger = logging.getLogger("showcaller.workers")

_START = (
    "import sys\n"
    "root = sys.argv.pop(1)\n"
    "root in sys.path or sys.path.insert(0, root)\n"
    "from showcaller.transport.worker.__main__ import main\n"
    "sys.exit(main())\n"
)
CALL_WITHIN: Final = 10.0
"""Seconds after which the log tells of a worker that has not called."""
PROGRAM: Sequence[str] = ("-P", "-c", _START, str(Path(__file__).absolute().parents[3]))
"""What Python runs as a worker; it is given the marker.

A worker looks for modules where this interpreter does by itself, never in the folder it happens to run in;
the folder of our package is added when it is not among those, as in a checkout.
"""


class LocalWorker:
    """A worker process that is alive, or was when it was found; ``link`` reaches it.

    ``begun`` is its card as far as it was known then.
    """

    def __init__(self, folder: WorkerFolder, begun: WorkerCard, link: WorkerLink) -> None:
        self.folder = folder
        self.begun = begun
        self.name = begun.name
        self.link = link

    @property
    def card(self) -> WorkerCard:
        """What is known of its processes now."""
        return latest(self.folder, self.begun)


class LocalPlacement:
    """Starts worker processes in folders of their own below ``parent``, and finds those started before.

    Whoever uses it holds the lock of the data folder. Thread-safe.
    """

    def __init__(self, parent: Path, address: str, hub: WorkerHub, later: Later) -> None:
        """Take folder, address and hub; ``later`` calls after so many seconds, on a thread."""
        self._parent = parent
        self._address = address
        self._hub = hub
        self._later = later
        self._closed = False
        self._silent: set[str] = set()
        self._proofs = Proofs()
        self._workers: dict[str, LocalWorker] = {}

    def find(self) -> tuple[list[LocalWorker], list[WorkerFolder]]:
        """Give the workers that an earlier relay has started: those alive, and the folders of those dead.

        Of the dead nothing runs any more. Raises ForeignWorkerError for one that is alive and whose card is
        none that we know.
        """
        cards = [(folder, folder.read()) for folder in worker_folders(self._parent)]
        alive = [(folder, card) for folder, card in cards if card is not None and card.is_alive]
        dead = [(folder, card) for folder, card in cards if card is None or not card.is_alive]
        bury([card for _, card in dead if card is not None])
        found = [self._take(folder, card, nothing_more) for folder, card in alive]
        return found, [folder for folder, _ in dead]

    def start(self, name: str, called: Callable[[], None] = nothing_more) -> LocalWorker:
        """Start a worker, and call ``called`` on the links' thread when it has called.

        Raises OSError, and may be tried again.
        """
        if not self._parent.parent.is_dir():
            raise FileNotFoundError(ENOENT, "the data folder was deleted", str(self._parent.parent))
        self._mend()
        folder = WorkerFolder(self._parent / name)
        folder.make()
        token, marker = token_urlsafe(24), f"{name}.{token_hex(8)}"
        options = WorkerOptions(name=name, address=self._address, token=token, folder=str(folder.path))
        child = _spawn(folder.log, marker)
        assert child.stdin is not None
        with child.stdin as pipe:
            guardian = identify(child.pid)
            card = WorkerCard(
                name=name,
                token=token,
                guardian=guardian.pid,
                guardian_started=guardian.started,
                marker=marker,
            )
            # Before it has its options: a relay that dies here leaves none that runs and that nobody knows.
            folder.write(card)
            pipe.write(options.model_dump_json().encode() + b"\n")
        logger.info("Worker %s starts; its guardian is process %d", name, guardian.pid)
        return self._take(folder, card, called)

    def watch(self, worker: Worker, died: Callable[[], None]) -> None:
        """Call ``died`` once, on the watch's thread, when the worker is proven dead."""
        watched = self._workers[worker.name]

        def proven() -> None:
            self._silent.discard(worker.name)
            died()

        self._proofs.await_end(watched.folder, watched.begun, proven)

    def end(self, worker: str) -> None:
        """Ask a worker to end what it runs and then itself."""
        process = self._workers[worker].card.living
        if process is not None:
            signal_process(process, signal.SIGTERM)

    def close(self) -> None:
        """Watch no more; the workers go on."""
        self._closed = True
        self._proofs.close()

    def _take(self, folder: WorkerFolder, card: WorkerCard, called: Callable[[], None]) -> LocalWorker:
        def hear(news: News) -> None:
            if news == "met":
                self._silent.discard(card.name)
                called()

        self._silent.add(card.name)
        link = WorkerLink(self._hub.expect(card.name, card.token, hear), version=card.protocol)
        worker = LocalWorker(folder, card, link)
        self._workers[card.name] = worker
        self._later(CALL_WITHIN, lambda: self._look_after(card.name))
        return worker

    def _look_after(self, name: str) -> None:
        """Say of a worker that it has not called, and mend what may keep it from that."""
        if self._closed or name not in self._silent:
            return
        logger.warning(
            "Worker %s is there and has not called at %s: what is handed to it waits. "
            "What it says of that is in %s; without a call it ends by itself and another comes in its place",
            name,
            self._address,
            self._workers[name].folder.log,
        )
        try:
            self._mend()
        except OSError as error:
            logger.warning("%s cannot be bound again, so no worker can call: %s", self._address, error)
        self._later(CALL_WITHIN, lambda: self._look_after(name))

    def _mend(self) -> None:
        if self._hub.mend():
            logger.warning(
                "%s had been taken away from this relay and is bound again: leave that file alone "
                "while a relay runs",
                self._address,
            )


def _spawn(log: Path, marker: str) -> "subprocess.Popen[bytes]":
    """Start the guardian in a session of its own; its worker waits for options on a pipe of its own."""
    descriptor = open_ordinary(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        process = subprocess.Popen(
            [sys.executable, *PROGRAM, marker],
            stdin=subprocess.PIPE,
            stdout=descriptor,
            stderr=descriptor,
            env={**os.environ, WORKERS_VARIABLE: markers_around(os.environ, WORKERS_VARIABLE, marker)},
            start_new_session=True,
        )
    finally:
        os.close(descriptor)
    process.returncode = 0  # the watch reaps it; nobody else waits
    return process
