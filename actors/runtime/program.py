"""The process's own dispatcher, and the end of a program whose actors still have mail."""

import atexit
import logging
import os
import threading

from showcaller.actors.runtime.dispatcher import Dispatcher

logger = logging.getLogger("showcaller.actors")


class _Process:
    """What there is once per process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.dispatcher: Dispatcher | None = None


_process = _Process()


def default_dispatcher() -> Dispatcher:
    """The process's own dispatcher, made on first use. Thread-safe."""
    if _process.dispatcher is None:
        with _process.lock:
            if _process.dispatcher is None:
                _process.dispatcher = Dispatcher()
                atexit.register(_finish_mail, _process.dispatcher)
    return _process.dispatcher


def _finish_mail(dispatcher: Dispatcher) -> None:
    """Let the program end only when its actors have handled their mail, or at Ctrl-C."""
    if dispatcher is not _process.dispatcher:
        return  # a child process after a fork: the threads stayed with its parent
    try:
        dispatcher.wait_quiet()
    except KeyboardInterrupt:
        logger.info("Interrupted while actors had mail: it is dropped")


# The threads of a dispatcher do not survive a fork: the child makes its own.
os.register_at_fork(after_in_child=_process.__init__)  # type: ignore[misc]
