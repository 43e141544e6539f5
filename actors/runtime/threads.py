"""What a dispatcher knows of one of its threads."""

from _thread import LockType, allocate_lock
from typing import Any

from showcaller.actors.runtime.context import BETWEEN, Turn


class DispatcherThread(Turn):
    """One thread: the locks it sleeps on and lets go of, since when its slice runs, and who watches it."""

    __slots__ = ("ident", "over", "since", "wake", "watch")

    def __init__(self) -> None:
        super().__init__()
        self.runnable = BETWEEN
        self.wake: LockType = allocate_lock()
        self.wake.acquire()
        self.over: LockType = allocate_lock()  # held until its turns are over
        self.over.acquire()
        self.ident = 0
        self.since = 0.0  # monotonic; another object for every slice
        self.watch: Any = None
