"""The watchdog: notices that the runner stands still in one slice while other actors wait."""

import threading
from _thread import allocate_lock
from typing import Protocol


class Watched(Protocol):
    """What the watchdog looks at."""

    slices: int

    @property
    def work_waits(self) -> bool:
        """True while cells are ready that nobody runs."""

    def take_over(self, slices: int) -> None:
        """Pass the role of the runner on, if it is still in the slice with that number."""


class Watchdog:
    """Looks every ``patience`` seconds while work waits; asleep, and no thread, before it is first needed."""

    def __init__(self, watched: Watched, patience: float) -> None:
        self.armed = False
        self._watched = watched
        self._patience = patience
        self._gate = allocate_lock()  # held while armed: only one caller of arm() wakes the thread
        self._wake = allocate_lock()
        self._wake.acquire()
        self._closing = threading.Event()
        self._started = False

    def arm(self) -> None:
        """Start looking, if it does not look already. Thread-safe, never blocks."""
        if not self._gate.acquire(False):
            return
        self.armed = True
        if not self._started:
            self._started = True
            threading.Thread(target=self._run, name="actors-watchdog", daemon=True).start()
        self._wake.release()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self.arm()

    def _run(self) -> None:
        while True:
            self._wake.acquire()
            if not self._look():
                return

    def _look(self) -> bool:
        """Look until no work waits; False when closed."""
        watched = self._watched
        while True:
            seen = watched.slices
            if self._closing.wait(self._patience):
                return False
            if watched.work_waits:
                if watched.slices == seen:
                    watched.take_over(seen)
                continue
            if not self._rearm():
                return True

    def _rearm(self) -> bool:
        """Disarm; True when work came in just then and nobody else has armed us for it."""
        self.armed = False
        self._gate.release()
        if self._watched.work_waits and self._gate.acquire(False):
            self.armed = True
            return True
        return False
