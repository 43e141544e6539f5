"""The one thread that owns the ZeroMQ sockets of a process; everybody else only leaves it something to do."""

import contextlib
import logging
import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import zmq

logger = logging.getLogger("showcaller.links")

HIGH_WATER: Final = 256
"""Messages that a socket keeps for one peer; a conversation has fewer under way."""
MOST_AT_ONCE: Final = 256
"""Messages that are read in a row before others have their turn."""
Now = Callable[[], float]
Parts = Sequence[bytes]


class SocketOwner(Protocol):
    """What the thread does its work for; called on that thread only."""

    @property
    def sockets(self) -> "Sequence[zmq.SyncSocket]":
        """The sockets to read from."""
        ...

    def read(self, source: "zmq.SyncSocket", parts: Parts) -> None:
        """Take one message that came."""
        ...

    def write(self, now: float) -> float:
        """Write what is due; gives the time when to look again (monotonic seconds, may be infinite)."""
        ...


class IoThread:
    """Reads and writes the sockets of its owner from ``start`` to ``close``.

    ``run`` and ``wake`` may be called from any thread; a job runs on this one, before the next write.
    """

    def __init__(self, owner: SocketOwner, now: Now, name: str) -> None:
        self._owner = owner
        self._now = now
        self._jobs: deque[Callable[[], None]] = deque()
        self._woken = False
        self._ends = False
        self._ear, self._bell = socket.socketpair()
        self._ear.setblocking(False)
        self._bell.setblocking(False)
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)

    def start(self) -> None:
        """Begin; what was left to do before is done first."""
        self._thread.start()

    def run(self, job: Callable[[], None]) -> None:
        """Have the thread do this."""
        self._jobs.append(job)
        self.wake()

    def wake(self) -> None:
        """Have the thread write what is due, and look for jobs."""
        if not self._woken:
            self._woken = True
            with contextlib.suppress(BlockingIOError, OSError):  # it is awake, or gone
                self._bell.send(b"!")

    def close(self) -> None:
        """Do the jobs that are left, end the thread and wait for it; repeatable, not on the thread itself."""
        self._ends = True
        self._woken = False
        self.wake()
        self._thread.join()
        self._ear.close()
        self._bell.close()

    def _loop(self) -> None:
        poller = zmq.Poller()
        poller.register(self._ear, zmq.POLLIN)
        for each in self._owner.sockets:
            poller.register(each, zmq.POLLIN)
        while True:
            ends = self._ends  # looked at before the jobs: what was left before the close is done
            self._do_jobs()
            due = self._owner.write(self._now())
            if ends:
                return
            wait = None if due == float("inf") else max(0, int((due - self._now()) * 1000) + 1)
            ready = dict(poller.poll(wait))
            if self._ear.fileno() in ready:
                self._ear.recv(4096)
                self._woken = False
            self._do_jobs()  # who was just expected may have called already
            for each in self._owner.sockets:
                if each in ready:
                    self._read(each)

    def _do_jobs(self) -> None:
        while self._jobs:
            job = self._jobs.popleft()
            try:
                job()
            except Exception:
                logger.exception("A mistake of the links; they go on")

    def _read(self, source: "zmq.SyncSocket") -> None:
        for _ in range(MOST_AT_ONCE):
            try:
                parts = source.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                self._owner.read(source, parts)
            except Exception:
                logger.exception("A mistake over a message of a link; it is dropped")
