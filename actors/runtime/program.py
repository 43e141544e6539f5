"""The process's own dispatcher."""

import os
import threading

from showcaller.actors.runtime.dispatcher import Dispatcher
from showcaller.actors.runtime.forking import see_to_forks


class _Process:
    """What there is once per process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.dispatcher: Dispatcher | None = None


_process = _Process()


def default_dispatcher() -> Dispatcher:
    """The process's own dispatcher, made on first use. Thread-safe."""
    if _process.dispatcher is None:
        with _process.lock:
            if _process.dispatcher is None:
                _process.dispatcher = Dispatcher()
    return _process.dispatcher


# The threads of a dispatcher do not survive a fork: the child makes its own.
os.register_at_fork(after_in_child=_process.__init__)  # type: ignore[misc]
see_to_forks()
