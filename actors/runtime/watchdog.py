"""The watchdog: notices that the runner stands still in one slice while other actors wait."""

import threading
from _thread import allocate_lock
from typing import Protocol

from showcaller.actors.runtime.unfailing_log import UnfailingLogger

logger = UnfailingLogger("showcaller.actors")


class Watched(Protocol):
    """What the watchdog looks at."""

    @property
    def work_waits(self) -> bool:
        """True while cells are ready, or timers due, for which nobody has time."""
        raise NotImplementedError

    @property
    def busy(self) -> bool:
        """True while the runner is in a slice and something may come to wait for it."""
        raise NotImplementedError

    def take_over(self, patience: float) -> None:
        """Pass the role of the runner on, if it has been in one slice for ``patience`` seconds."""


class Watchdog:
    """Looks every ``patience`` / 2 seconds while work waits; no thread before it is first needed.

    ``armed`` goes True before the thread is woken and False before it looks whether it may stop looking;
    who adds work adds it first and looks at ``armed`` afterwards. So either the thread sees the work or
    the adder sees that it must arm. Arming twice is harmless, and so is an exception (as of a signal)
    in between: the lock that the thread sleeps on is let go of once, and once too often makes it look
    once for nothing.
    """

    def __init__(self, watched: Watched, patience: float) -> None:
        self.armed = False
        self._watched = watched
        self._patience = patience
        self._interval = patience / 2
        self._starting = threading.RLock()
        self._wake = allocate_lock()
        self._wake.acquire()
        self._closing = threading.Event()
        self._started = False
        self._runs = False  # a thread is there

    def arm(self) -> None:
        """Start looking, if it does not look already. Thread-safe, never blocks."""
        if self._closing.is_set():
            return
        self.armed = True
        if self._started or self._start():
            self._rouse()

    def _rouse(self) -> None:
        try:
            self._wake.release()
        except RuntimeError:
            return  # the thread has been woken already

    def _start(self) -> bool:
        """Start the thread; False when none can be had: who arms next tries again."""
        fault = None
        with self._starting:
            if not self._started:
                try:
                    threading.Thread(target=self._run, name="actors-watchdog", daemon=True).start()
                    self._started = True
                except Exception as error:
                    fault = error
                finally:
                    self.armed = self._started
        if fault is not None:
            logger.warning("No thread for the watchdog now", exc_info=fault)
        return self._started

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._rouse()

    def _run(self) -> None:
        with self._starting:
            if self._runs:
                return  # whoever started the first one was interrupted, and could not know that it runs
            self._runs = self._started = True
        while True:
            self._wake.acquire()
            if not self._look():
                return

    def _look(self) -> bool:
        """Look until no work can come to wait; False when closed."""
        watched = self._watched
        while True:
            if self._closing.wait(self._interval):
                return False
            if watched.work_waits:
                watched.take_over(self._patience)
            if not watched.busy and not self._rearm():
                return True

    def _rearm(self) -> bool:
        """Disarm; True when work came in just then, so that it must look on."""
        self.armed = False
        if self._watched.busy:
            self.armed = True
        return self.armed
