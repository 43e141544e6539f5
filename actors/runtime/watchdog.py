"""The watchdog: notices that the runner stands still in one slice while other actors wait."""

import logging
import threading
from _thread import allocate_lock
from typing import Protocol

logger = logging.getLogger("showcaller.actors")


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

    ``armed`` goes True before the thread looks for the first time and False before it looks whether it
    may stop looking; who adds work adds it first and looks at ``armed`` afterwards. So either the thread
    sees the work or the adder sees that it must arm. ``_gate`` is held while armed, and decides which of
    several adders (or the thread itself) arms.
    """

    def __init__(self, watched: Watched, patience: float) -> None:
        self.armed = False
        self._watched = watched
        self._patience = patience
        self._interval = patience / 2
        self._gate = allocate_lock()
        self._wake = allocate_lock()
        self._wake.acquire()
        self._closing = threading.Event()
        self._started = False

    def arm(self) -> None:
        """Start looking, if it does not look already. Thread-safe, never blocks."""
        if self._closing.is_set() or not self._gate.acquire(False):
            return
        self.armed = True
        if self._started or self._start():
            self._wake.release()

    def _start(self) -> bool:
        """Start the thread; False when none can be had: who arms next tries again."""
        try:
            threading.Thread(target=self._run, name="actors-watchdog", daemon=True).start()
            self._started = True
        except Exception:
            logger.warning("No thread for the watchdog now", exc_info=True)
        finally:
            if not self._started:
                self.armed = False
                self._gate.release()
        return self._started

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        if self._started and self._gate.acquire(False):
            self._wake.release()

    def _run(self) -> None:
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
        """Disarm; True when work came in just then and nobody else has armed us for it."""
        self.armed = False
        self._gate.release()
        if self._watched.busy and self._gate.acquire(False):
            self.armed = True
            return True
        return False
