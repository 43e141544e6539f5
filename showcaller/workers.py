"""Where a relay's workers come from: the one place that decides it."""

from collections.abc import Callable
from typing import Final, NamedTuple

import structlog
import zmq

from showcaller.actors.relay.ports import OutlivingWorkers, WorkerPort
from showcaller.actors.runtime import SYSTEM_CLOCK
from showcaller.data_folder import DataFolder
from showcaller.transport.doors.start_error import RelayStartError
from showcaller.transport.placement.processes import WorkerProcesses
from showcaller.transport.worker.catalogue import built_in_providers
from showcaller.transport.worker.thread import WorkerThread

DEFAULT_COUNT: Final = 1
PATIENCE: Final = 15.0
"""Seconds for worker processes to end what they run, and then themselves."""

log = structlog.stdlib.get_logger("showcaller.workers")


def end_with_port() -> None:
    """Do nothing more: such workers end when their port is closed."""


class Workers(NamedTuple):
    """The workers of a relay.

    ``outliving`` is what is known of those that go on when their relay ends, None when they end with
    ``port``; ``end`` ends them too, after the relay's door is closed. It blocks, and may be called once.
    """

    port: WorkerPort
    outliving: OutlivingWorkers | None = None
    end: Callable[[], None] = end_with_port


def open_workers(folder: DataFolder, count: int | None) -> Workers:
    """Start the workers of the relay that has locked this folder.

    ``count`` is how many processes there shall be, with those that an earlier relay has left; None for one
    worker in a thread of this process. Raises ``RelayStartError``.
    """
    if count is None:
        return Workers(WorkerThread(built_in_providers()).port)
    try:
        processes = WorkerProcesses(folder.path, count, SYSTEM_CLOCK.monotonic)
    except (OSError, ValueError, zmq.ZMQError) as error:
        raise RelayStartError(
            f"The socket for workers in {folder.path} cannot be opened: {error}.",
            "Check who owns the folder and whether its disk has room, or name another one.",
        ) from error

    def end() -> None:
        left = processes.end_workers(PATIENCE)
        if left:
            log.warning("workers are still there", workers=left)

    return Workers(processes, processes, end)
