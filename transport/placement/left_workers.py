"""What worker processes have left in a data folder whose relay now has its worker in its own process."""

from pathlib import Path

from showcaller.actors.contract.fates import Left
from showcaller.actors.contract.worker import RunTurn
from showcaller.transport.worker.journal import left_in
from showcaller.transport.worker.worker_folder import WorkerFolder, worker_folders


class WorkersAtWorkError(Exception):
    """Worker processes of an earlier relay still have turns, which this one could not get."""


class LeftWorkers:
    """Knows of the dead what they have left, and of nobody that is there. Thread-safe.

    ``own`` names the worker in this process.
    """

    def __init__(self, parent: Path, own: str) -> None:
        """Read what is there. Raises WorkersAtWorkError and ForeignWorkerError."""
        self._own = own
        self._left: dict[str, Left] = {}
        self._dead: list[WorkerFolder] = []
        for folder in worker_folders(parent):
            left = left_in(folder.spool)
            card = folder.read()
            if card is None or not card.is_alive:
                self._left[folder.path.name] = left
                self._dead.append(folder)
            elif left:
                raise WorkersAtWorkError(
                    f"The worker {card.name} (process {card.pid}), left by a relay, has {len(left)} turns"
                )

    def place(self, session: str) -> str:
        """Give the worker in this process."""
        return self._own

    def has(self, worker: str) -> bool:
        """Say no: what this relay's own worker had has died with it."""
        return False

    def ask_again(self, run: RunTurn, worker: str) -> bool:
        """Say no."""
        return False

    def left_by(self, worker: str) -> Left | None:
        """Give what a dead worker had taken; None for a worker of which nothing is known."""
        return self._left.get(worker)

    def recovered(self) -> None:
        """What the dead had left is stored: let go of it. Raises OSError."""
        for folder in self._dead:
            folder.clear_away()
        self._dead.clear()


def has_living_workers(parent: Path) -> bool:
    """Tell whether a worker process of this folder is there, so that its turns may go on."""
    cards = [folder.read() for folder in worker_folders(parent)]
    return any(card is not None and card.is_alive for card in cards)
