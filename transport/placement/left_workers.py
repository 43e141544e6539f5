"""What worker processes have left in a data folder whose relay, if there is one, has none of its own."""

import signal
import threading
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Final

from showcaller.actors.contract.fates import Left
from showcaller.actors.contract.summaries import counted
from showcaller.actors.contract.worker import RunTurn
from showcaller.transport.placement.proofs import Proofs, bury
from showcaller.transport.worker.journal import left_in
from showcaller.transport.worker.process_identity import is_alive, signal_process
from showcaller.transport.worker.worker_folder import WorkerCard, WorkerFolder, worker_folders

TIDYING: Final = 10.0
"""Seconds for the guardian of a dead worker to end what this has left."""


class WorkersAtWorkError(Exception):
    """Worker processes of an earlier relay still have turns, which this one could not get."""


class LeftWorkers:
    """Knows of the dead what they have left, and of nobody that is there. Thread-safe.

    ``own`` names the worker in this process.
    """

    def __init__(self, parent: Path, own: str) -> None:
        """Read what the dead have left, and end what still runs of it.

        Raises WorkersAtWorkError and ForeignWorkerError.
        """
        self._own = own
        self._left: dict[str, Left] = {}
        self._dead: list[WorkerFolder] = []
        cards = [(folder, folder.read()) for folder in worker_folders(parent)]
        for folder, card in cards:
            left = left_in(folder)
            if card is None or not card.is_alive or _has_just_died(folder, card):
                if left is not None:
                    self._left[folder.path.name] = left
                    self._dead.append(folder)
            elif left is None or left.turns:
                turns = "may have turns" if left is None else f"has {counted(len(left.turns), 'turn')}"
                raise WorkersAtWorkError(
                    f"The worker {card.name} (process {card.pid}), left by a relay, {turns}"
                )
        bury([card for folder, card in cards if card is not None and folder in self._dead])

    def place(self, session: str) -> str:
        """Give the worker in this process."""
        return self._own

    def has(self, worker: str) -> bool:
        """Say no: what this relay's own worker had has died with it."""
        return False

    def ask_again(self, run: RunTurn) -> bool:
        """Say no."""
        return False

    def expect_task(self, session: str, task: str, worker: str) -> bool:
        """Say no: what a worker of before has left running is ended with it."""
        return False

    def left_by(self, worker: str) -> Left | None:
        """Give what a dead worker had taken; None for a worker of which nothing is known."""
        return self._left.get(worker)

    def recovered(self, going_on: Collection[str]) -> None:
        """What the dead had left is stored: let go of it; nothing goes on there. Raises OSError."""
        for folder in self._dead:
            folder.clear_away()
        self._dead.clear()


def living_workers(parent: Path) -> list[WorkerCard]:
    """Give the worker processes of this folder that are there, so that their turns may go on.

    Raises ForeignWorkerError.
    """
    cards = [folder.read() for folder in worker_folders(parent)]
    return [card for card in cards if card is not None and card.is_alive]


def end_left_workers(parent: Path, patience: float) -> tuple[int, list[int]]:
    """End the workers that a relay has left, with what they run, whose ends stay for the next relay.

    Gives how many have ended, and the processes of those that have not after ``patience`` seconds. Whoever
    calls holds the lock of the data folder. Raises ForeignWorkerError for one that is alive and whose card
    is none that we know.
    """
    cards = [(folder, card) for folder in worker_folders(parent) if (card := folder.read()) is not None]
    there = {card.name: card for _, card in cards if card.is_alive}
    changed = threading.Condition()
    left = dict(there)

    def proven(name: str) -> None:
        with changed:
            del left[name]
            changed.notify()

    proofs = Proofs()
    for folder, card in cards:
        if card.name in there:
            proofs.await_end(folder, card, partial(proven, card.name))
            _tell_to_end(card)
    with changed:
        changed.wait_for(lambda: not left, patience)
        still = [card.pid or card.guardian or 0 for card in left.values()]
    proofs.close()
    bury([card for _, card in cards if card.name not in there])
    return len(there) - len(left), still


def _tell_to_end(card: WorkerCard) -> None:
    process = card.living
    if process is not None:
        signal_process(process, signal.SIGTERM)


def _has_just_died(folder: WorkerFolder, card: WorkerCard) -> bool:
    """Say whether the worker is dead, and its guardian as well, once that has had its time to tidy up."""
    if card.process is None or is_alive(card.process):
        return False
    gone = threading.Event()
    proofs = Proofs()
    proofs.await_end(folder, card, gone.set)
    is_gone = gone.wait(TIDYING)
    proofs.close()
    return is_gone
