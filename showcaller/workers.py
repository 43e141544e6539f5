"""Where a relay's workers come from: the one place that decides it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import structlog
import zmq

from showcaller.actors.contract.ids import new_id
from showcaller.actors.relay.ports import OutlivingWorkers, WorkerPort
from showcaller.actors.runtime import SYSTEM_CLOCK
from showcaller.data_folder import DataFolder
from showcaller.transport.doors.cli.left_workers import told_of
from showcaller.transport.doors.cli.relay import Farewell, LeftWorker
from showcaller.transport.doors.http.peers import WorkerTree
from showcaller.transport.doors.start_error import RelayStartError
from showcaller.transport.ordinary_files import NoOrdinaryFileError
from showcaller.transport.placement.left_workers import (
    LeftWorkers,
    WorkersAtWorkError,
    end_left_workers,
    living_workers,
)
from showcaller.transport.placement.processes import FOLDER, NoFolderError, WorkerProcesses
from showcaller.transport.worker.catalogue import built_in_providers
from showcaller.transport.worker.journal import left_in
from showcaller.transport.worker.thread import WorkerThread
from showcaller.transport.worker.worker_folder import ForeignWorkerError, worker_folders

DEFAULT_COUNT: Final = 1
PATIENCE: Final = 15.0
"""Seconds for worker processes to end what they run, and then themselves."""

log = structlog.stdlib.get_logger("showcaller.workers")


def end_with_port() -> None:
    """Do nothing more: such workers end when their port is closed."""


class Workers(NamedTuple):
    """The workers of a relay.

    ``name`` is that of the one that ends with ``port``, if they do; ``outliving`` is what is known of those
    that go on when their relay ends; ``end`` ends them too, after the relay's door is closed. It blocks, and
    may be called once. ``start_no_more`` says that the relay is about to end, and blocks nobody.
    """

    port: WorkerPort
    name: str = ""
    outliving: OutlivingWorkers | None = None
    end: Callable[[], None] = end_with_port
    start_no_more: Callable[[], None] = end_with_port


def open_workers(folder: DataFolder, count: int | None) -> Workers:
    """Start the workers of the relay that has locked this folder.

    ``count`` is how many processes there shall be, with those that an earlier relay has left; None for one
    worker in a thread of this process. Raises ``RelayStartError``.
    """
    try:
        if count is None:
            name = new_id("wrk_")
            left = LeftWorkers(folder.path / FOLDER, name)
            return Workers(WorkerThread(built_in_providers()).port, name, left)
        processes = WorkerProcesses(folder.path, count, SYSTEM_CLOCK.monotonic)
    except WorkersAtWorkError as error:
        raise RelayStartError(
            f"{error}, which only a relay that runs on its own can get.",
            "Start it again with: showcaller serve. To end them there: showcaller stop --workers.",
        ) from error
    except ForeignWorkerError as error:
        raise _foreign(error) from error
    except NoFolderError as error:
        raise RelayStartError(f"{error}.", "Move it away.") from error
    except NoOrdinaryFileError as error:
        raise RelayStartError(f"What workers have left cannot be read: {error}.", "") from error
    except IsADirectoryError as error:
        raise RelayStartError(
            f"{error.filename} is in the place of the socket for workers, and a folder.", "Move it away."
        ) from error
    except (OSError, ValueError, zmq.ZMQError) as error:
        raise RelayStartError(
            f"The socket for workers in {folder.path} cannot be opened: {error}.",
            "Check who owns the folder and whether its disk has room, or name another one.",
        ) from error

    def end() -> None:
        left = processes.end_workers(PATIENCE)
        if left:
            log.warning("workers are still there", workers=left)

    return Workers(processes, "", processes, end, processes.start_no_more)


def running_workers(home: Path) -> list[dict[str, Any]]:
    """Give the worker processes of this data folder that are there: ``name``, ``pid`` and ``version``.

    Of one that is still starting, ``pid`` is None and ``version`` empty; of one whose card is of another
    version than we can read, or that cannot be read, ``pid`` is None and ``version`` ``unknown``.
    """
    found: list[dict[str, Any]] = []
    for folder in worker_folders(home / FOLDER):
        try:
            card = folder.read()
        except (ForeignWorkerError, OSError):
            found.append({"name": folder.path.name, "pid": None, "version": "unknown"})
            continue
        if card is not None and card.is_alive:
            found.append({"name": card.name, "pid": card.pid, "version": card.version})
    return found


def worker_trees(home: Path) -> list[WorkerTree]:
    """Give where the processes hang that the workers of this data folder have started.

    Of a worker whose card cannot be read nothing is known, so its processes are not told from others.
    """
    trees: list[WorkerTree] = []
    for folder in worker_folders(home / FOLDER):
        try:
            card = folder.read()
        except (ForeignWorkerError, OSError) as error:
            log.warning("a worker's processes are not known", worker=folder.path.name, error=str(error))
            continue
        if card is not None and card.guardian is not None and card.pid is not None and card.is_alive:
            trees.append(WorkerTree(card.guardian, card.pid))
    return trees


def workers_are_there(home: Path) -> bool:
    """Tell whether worker processes of this data folder are there, though its relay may not be."""
    try:
        return bool(living_workers(home / FOLDER))
    except (ForeignWorkerError, OSError):
        return True


def left_workers(home: Path) -> list[LeftWorker]:
    """Give the worker processes that are there of a data folder whose relay is not."""
    found: list[LeftWorker] = []
    for folder in worker_folders(home / FOLDER):
        try:
            card = folder.read()
        except (ForeignWorkerError, OSError):
            found.append(LeftWorker(folder.path.name, None, None))
            continue
        if card is not None and card.is_alive:
            left = left_in(folder)
            found.append(
                LeftWorker(card.name, card.pid or card.guardian, None if left is None else tuple(left.turns))
            )
    return found


def refuse_left_workers(home: Path) -> None:
    """Refuse what must not happen under a worker that goes on; raises ``RelayStartError``.

    Whoever calls holds the lock of the data folder, so that no relay starts another meanwhile.
    """
    left = left_workers(home)
    if left:
        raise RelayStartError(
            f"{told_of(left)}. Nothing was changed.",
            "End them, with what they run: showcaller stop --workers. Or have a relay take over what they "
            "have, and stop that with its workers: showcaller serve",
        )


def end_workers(home: Path) -> Farewell:
    """End the worker processes that a relay of this data folder has left.

    Raises ``RelayStartError`` when a relay, or a command in its place, holds the folder.
    """
    if not workers_are_there(home):
        return Farewell(0, [])
    try:
        with DataFolder(home).lock():
            return Farewell(*end_left_workers(home / FOLDER, PATIENCE))
    except OSError as error:
        raise RelayStartError(f"What workers have left cannot be read: {error}.", "") from error
    except ForeignWorkerError as error:
        raise _foreign(error) from error


def _foreign(error: ForeignWorkerError) -> RelayStartError:
    return RelayStartError(
        f"{error}.", "Start the version that has started it, and there: showcaller stop --workers."
    )
