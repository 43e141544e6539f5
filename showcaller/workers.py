"""Where a relay's workers come from: the one place that decides it."""

from showcaller.actors.relay.ports import WorkerPort
from showcaller.data_folder import DataFolder
from showcaller.transport.worker.catalogue import built_in_providers
from showcaller.transport.worker.thread import WorkerThread

DEFAULT_COUNT = 1


def open_workers(folder: DataFolder, *, count: int = DEFAULT_COUNT) -> WorkerPort:
    """Start the workers of the relay that has locked this folder, and give the port to them.

    ``count`` is how many processes there shall be. For now there is one worker, a thread of this process
    whatever the number, and it ends with its port.
    """
    del folder, count
    return WorkerThread(built_in_providers()).port
