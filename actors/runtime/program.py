"""The process's own dispatcher, and the end of a program whose actors still have mail.

A program waits for its actors' mail twice: before Python joins the program's own threads, and once more
when those have ended, since they may have told more. A Ctrl-C before or during the first wait means that
nobody wants to wait. It may hit Python's own code between the end of the main module and our waiting; then
the first wait never ends, and so the second is left out.
"""

import atexit
import logging
import os
import sys
import threading

from showcaller.actors.runtime.dispatcher import Dispatcher

logger = logging.getLogger("showcaller.actors")

# Seconds. A signal that comes just before a thread begins to sleep on a lock does not wake it: Python raises
# KeyboardInterrupt only when the sleep ends.
INTERRUPTIBLE = 0.2


class _Process:
    """What there is once per process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.dispatcher: Dispatcher | None = None
        self.waits_again = False

    def finish_mail(self) -> None:
        """Let the program end only when its actors have handled their mail; Ctrl-C ends it before."""
        self.waits_again = False
        if self.dispatcher is None or issubclass(
            getattr(sys, "last_type", None) or object, KeyboardInterrupt
        ):
            return
        try:
            while not self.dispatcher.wait_quiet(INTERRUPTIBLE):
                pass
        except KeyboardInterrupt:
            logger.info("Interrupted while actors had mail: it is dropped")
        else:
            self.waits_again = True

    def finish_last_mail(self) -> None:
        """Do the same for what the program's threads have told since."""
        if self.waits_again:
            self.finish_mail()


_process = _Process()


def default_dispatcher() -> Dispatcher:
    """The process's own dispatcher, made on first use. Thread-safe."""
    if _process.dispatcher is None:
        with _process.lock:
            if _process.dispatcher is None:
                _process.dispatcher = Dispatcher()
                _register()
    return _process.dispatcher


def _register() -> None:
    # What concurrent.futures does as well; where Python has it no longer, there is one wait instead of two.
    before_joining = getattr(threading, "_register_atexit", None)
    if before_joining is None:
        atexit.register(_process.finish_mail)
    else:
        before_joining(_process.finish_mail)
        atexit.register(_process.finish_last_mail)


# The threads of a dispatcher do not survive a fork: the child makes its own.
os.register_at_fork(after_in_child=_process.__init__)  # type: ignore[misc]
