"""Threads that take turns: each sleeps until it is woken, and wakes the next one."""

import os
import threading
import weakref
from _thread import LockType, allocate_lock
from collections.abc import Callable

MOST_IDLE = 16  # helpers kept for the next who needs one


class Sleeper:
    """A thread that waits for its turn."""

    __slots__ = ("_turn",)

    def __init__(self) -> None:
        self._turn: LockType = allocate_lock()
        self._turn.acquire()

    def sleep(self) -> None:
        """Wait for the turn."""
        self._turn.acquire()

    def wake(self) -> None:
        """Give the turn away: whoever calls this does nothing more."""
        self._turn.release()


Job = Callable[[], Sleeper | None]
"""What a helper does in its turn; gives whose turn is next."""


class Helper(Sleeper):
    """A thread that does one job in each turn: the next one's for anybody, or for who keeps it."""

    __slots__ = ("_kept", "job")

    def __init__(self, *, kept_by: object = None) -> None:
        super().__init__()
        self.job: Job | None = None
        self._kept = kept_by is not None
        if kept_by is not None:
            weakref.finalize(kept_by, self._end).atexit = False
        threading.Thread(target=self._work, name="manual", daemon=True).start()

    def release(self) -> None:
        """Be there for anybody once the job is done; called in the job."""
        self._kept = False

    def _end(self) -> None:
        if self._kept:
            self.wake()

    def _work(self) -> None:
        while True:
            self.sleep()
            job, self.job = self.job, None
            if job is None:
                return
            following = job()
            job = None  # it would keep the dispatcher
            stays = self._kept or len(_idle) < MOST_IDLE
            if stays and not self._kept:
                _idle.append(self)  # before the next one is woken, who may need it
            if following is not None:
                following.wake()
                following = None
            if not stays:
                return


_idle: list[Helper] = []
os.register_at_fork(after_in_child=_idle.clear)  # their threads are the parent's


def idle_helper(job: Job) -> Helper:
    """Give a helper that does ``job`` when it is woken."""
    try:
        helper = _idle.pop()
    except IndexError:
        helper = Helper()
    helper.job = job
    return helper
