"""Where a relay's workers come from: the one place that decides it."""

from collections.abc import Callable
from typing import NamedTuple

from showcaller.actors.relay.ports import OutlivingWorkers, WorkerPort
from showcaller.data_folder import DataFolder
from showcaller.transport.worker.catalogue import built_in_providers
from showcaller.transport.worker.thread import WorkerThread

DEFAULT_COUNT = 1


def end_with_port() -> None:
    """Do nothing more: such workers end when their port is closed."""


class Workers(NamedTuple):
    """The workers of a relay.

    ``outliving`` is what is known of those that go on when their relay ends, None when they end with
    ``port``; ``end`` ends them too, before the relay is closed. It blocks, and may be called once.
    """

    port: WorkerPort
    outliving: OutlivingWorkers | None = None
    end: Callable[[], None] = end_with_port


def open_workers(folder: DataFolder, *, count: int = DEFAULT_COUNT) -> Workers:
    """Start the workers of the relay that has locked this folder.

    ``count`` is how many processes there shall be. For now there is one worker, a thread of this process
    whatever the number, and it ends with its port.
    """
    del folder, count
    return Workers(WorkerThread(built_in_providers()).port)
