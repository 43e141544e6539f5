"""Waiting until no actor has mail, so that a program does not end before its actors are done."""

import threading
from _thread import TIMEOUT_MAX
from collections import deque
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.context import BETWEEN

if TYPE_CHECKING:
    from showcaller.actors.runtime.dispatcher import Dispatcher
    from showcaller.actors.runtime.threads import DispatcherThread


class Quiet:
    """Who waits for a dispatcher to fall quiet. Its lock is the dispatcher's.

    A thread looks after each slice while somebody waits, and again when it goes to sleep; who waits
    looks first and enters itself under the lock that a thread takes on its way to sleep. So no moment of
    quiet that lasts is missed.
    """

    def __init__(self, dispatcher: "Dispatcher") -> None:
        self.waiters: list[threading.Event] = []
        self._dispatcher = dispatcher

    def wait(self, timeout: float | None) -> bool:
        """Wait until no actor has mail; False at the timeout (seconds)."""
        quiet = threading.Event()
        with self._dispatcher._lock:
            if not self._has_mail(None):
                return True
            self.waiters.append(quiet)
        if quiet.wait(None if timeout is None else min(timeout, TIMEOUT_MAX)):
            return True
        with self._dispatcher._lock:
            if quiet in self.waiters:
                self.waiters.remove(quiet)
        return quiet.is_set()

    def look(self, but: "DispatcherThread | None" = None) -> None:
        """Wake who waits, if it is quiet; ``but`` is the thread that looks, between two slices."""
        with self._dispatcher._lock:
            self.look_locked(but)

    def look_locked(self, but: "DispatcherThread | None") -> None:
        """As ``look``, for who holds the lock."""
        if not self._has_mail(but):
            waiters, self.waiters = self.waiters, []
            for quiet in waiters:
                quiet.set()

    def _has_mail(self, but: "DispatcherThread | None") -> bool:
        """True while an actor that is no daemon has mail, runs, is blocked, or waits with a coroutine.

        It is asked after each slice while somebody waits, so what is found first decides, and no long
        queue is copied unless daemons stand at its front.
        """
        at_work = self._dispatcher
        if any(_holds_program(thread.runnable) for thread in at_work._threads if thread is not but):
            return True
        if any(_holds_program(pinned.cell) for pinned in at_work._pinned if pinned.has_mail):
            return True
        return _any_holds(at_work._ready) or _any_holds(at_work._blocked) or _any_holds(at_work.suspended)


def _any_holds(cells: deque[Any] | dict[Any, None]) -> bool:
    """Look at the first of them, and at a copy of all only if that is a daemon's."""
    try:
        if not cells or _holds_program(next(iter(cells))):
            return bool(cells)
    except RuntimeError:  # it changes while we look: then there is something
        return True
    return any(map(_holds_program, cells.copy()))


def _holds_program(runnable: Any) -> bool:
    if runnable is None:
        return False
    return runnable is BETWEEN or not getattr(runnable.actor_class, "use_daemon_thread", False)
