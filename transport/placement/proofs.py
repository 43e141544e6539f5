"""The proof that a worker is dead: neither it nor its guardian is there, and nothing that it had started."""

import logging
from collections.abc import Callable, Iterable

from showcaller.transport.placement.deaths import DeathWatch
from showcaller.transport.worker.remains import end_remains
from showcaller.transport.worker.worker_folder import ForeignWorkerError, WorkerCard, WorkerFolder

logger = logging.getLogger("showcaller.workers")


class Proofs:
    """Tells once of each worker when it is proven dead. Thread-safe.

    A guardian ends what its worker has left before it ends itself, so there is nothing then. When it was
    killed, and the worker with it, what they have left is ended here.
    """

    def __init__(self) -> None:
        self._deaths = DeathWatch()

    def await_end(self, folder: WorkerFolder, begun: WorkerCard, proven: Callable[[], None]) -> None:
        """Call ``proven`` once the worker of this folder is dead: on a thread of ours, or at once if it is.

        ``begun`` is its card as far as it was known at its start: it may die before it writes its own.
        """
        guardian = begun.guardian_process
        if guardian is None:
            self._await_worker(begun, proven)
        else:
            self._deaths.watch(guardian, lambda: self._await_worker(latest(folder, begun), proven))

    def close(self) -> None:
        """Watch no more; repeatable."""
        self._deaths.close()

    def _await_worker(self, card: WorkerCard, proven: Callable[[], None]) -> None:
        def is_dead() -> None:
            bury([card])
            proven()

        worker = card.process
        if worker is None:
            is_dead()
        else:
            self._deaths.watch(worker, is_dead)


def latest(folder: WorkerFolder, begun: WorkerCard) -> WorkerCard:
    """Give the card that a worker has written, or the one that it was started with if that tells nothing."""
    try:
        card = folder.read()
    except (ForeignWorkerError, OSError):
        return begun
    return begun if card is None or card.marker != begun.marker else card


def bury(dead: Iterable[WorkerCard]) -> None:
    """End what workers have left that are dead, and whose guardians are."""
    marked = [card for card in dead if card.marker is not None]
    since = min((card.guardian_started or 0 for card in marked), default=0)
    killed, left = end_remains([card.marker for card in marked if card.marker is not None], since)
    if killed:
        logger.warning("Processes ended that a worker and its guardian, both killed, had left: %d", killed)
    if left:
        logger.error("Processes of a dead worker cannot be ended: %s", ", ".join(map(str, sorted(left))))
