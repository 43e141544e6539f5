"""Waiting for the deaths of processes, our own children or not, without asking again and again."""

import contextlib
import logging
import os
import select
import socket
import threading
from collections.abc import Callable

from showcaller.transport.worker.process_identity import ProcessIdentity, is_alive

logger = logging.getLogger("showcaller.workers")


class DeathWatch:
    """Tells once of each process that it watches when it has died. Thread-safe; needs Linux's pidfds."""

    def __init__(self) -> None:
        self._ear, self._bell = socket.socketpair()
        self._poll = select.poll()
        self._poll.register(self._ear, select.POLLIN)
        self._watched: dict[int, Callable[[], None]] = {}
        self._gate = threading.Lock()
        self._ends = False
        self._thread = threading.Thread(target=self._run, name="showcaller-deaths", daemon=True)
        self._thread.start()

    def watch(self, process: ProcessIdentity, died: Callable[[], None]) -> None:
        """Call ``died`` on the watch's thread once the process has died; at once if it has already."""
        try:
            descriptor = os.pidfd_open(process.pid)
        except ProcessLookupError:
            died()
            return
        if not is_alive(process):  # the id may have been another's by the time it was opened
            os.close(descriptor)
            died()
            return
        with self._gate:
            self._watched[descriptor] = died
            self._poll.register(descriptor, select.POLLIN)
        self._bell.send(b"!")

    def close(self) -> None:
        """Watch no more; repeatable."""
        if self._ends:
            return
        self._ends = True
        self._bell.send(b"!")
        self._thread.join()
        for descriptor in self._watched:
            os.close(descriptor)
        self._watched.clear()
        self._ear.close()
        self._bell.close()

    def _run(self) -> None:
        while not self._ends:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._ear.fileno():
                    self._ear.recv(4096)
                else:
                    self._died(descriptor)

    def _died(self, descriptor: int) -> None:
        with self._gate:
            self._poll.unregister(descriptor)
            died = self._watched.pop(descriptor)
        with contextlib.suppress(ChildProcessError):  # a zombie of ours would keep its id for ever
            os.waitid(os.P_PIDFD, descriptor, os.WEXITED | os.WNOHANG)
        os.close(descriptor)
        try:
            died()
        except Exception:
            logger.exception("A mistake over the death of a worker")
