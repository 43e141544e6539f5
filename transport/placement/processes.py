"""A relay's workers as processes on this machine, behind one port: the hub, the placement and the pool."""

import threading
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex

from showcaller.actors.contract.ids import new_id
from showcaller.transport.links.io_thread import Now
from showcaller.transport.links.sockets import WorkerHub
from showcaller.transport.placement.local import LocalPlacement
from showcaller.transport.placement.pool import WorkerPool

SOCKET = "links"
FOLDER = "workers"


class NoFolderError(Exception):
    """Something else is in the place of the folder for workers; the text names it."""


class WorkerProcesses(WorkerPool):
    """The pool of a data folder's worker processes; ``close`` leaves them running. Thread-safe."""

    def __init__(self, home: Path, count: int, now: Now) -> None:
        """Bind the socket in the folder, whose lock the caller holds; find workers, and start those missing.

        Raises ``OSError`` or ``zmq.ZMQError`` when the socket cannot be bound, ValueError for a folder
        whose path is too long for one.
        """
        socket = home / SOCKET
        socket.unlink(missing_ok=True)  # of a relay that was killed
        self._path = socket
        _make_folder(home / FOLDER)
        address = f"ipc://{socket}"
        self._hub = WorkerHub(address, token_hex(8), now)
        try:
            placement = LocalPlacement(home / FOLDER, address, self._hub, _later)
            super().__init__(placement, count, lambda: new_id("wrk_"), _later, now)
        except BaseException:
            self._hub.close()
            raise

    def close(self) -> None:
        """Hang up and let go of the socket; the workers and their turns go on."""
        super().close()
        self._hub.close()
        self._path.unlink(missing_ok=True)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError as error:
        raise NoFolderError(f"{path} is in the place of the folder for workers, and no folder") from error


def _later(seconds: float, act: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()
