"""Waiting for the deaths of processes, our own children or not."""

import contextlib
import logging
import os
import select
import socket
import threading
from collections.abc import Callable
from typing import Final

from showcaller.transport.worker.process_identity import ProcessIdentity, is_alive

logger = logging.getLogger("showcaller.workers")

LOOK: Final = 1.0
"""Seconds between two looks at processes where the system cannot tell of their deaths."""


class DeathWatch:
    """Tells once of each process that it watches when it has died. Thread-safe.

    Linux tells of a death by a descriptor; elsewhere processes are looked at again and again.
    """

    def __init__(self) -> None:
        self._ear, self._bell = socket.socketpair()
        self._poll = select.poll()
        self._poll.register(self._ear, select.POLLIN)
        self._by_descriptor: dict[int, tuple[ProcessIdentity, Callable[[], None]]] = {}
        self._looked_at: dict[ProcessIdentity, Callable[[], None]] = {}
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
        except AttributeError:
            with self._gate:
                self._looked_at[process] = died
            self._bell.send(b"!")
            return
        if not is_alive(process):  # the id may have been another's by the time it was opened
            os.close(descriptor)
            _reap(process)
            died()
            return
        with self._gate:
            self._by_descriptor[descriptor] = process, died
            self._poll.register(descriptor, select.POLLIN)
        self._bell.send(b"!")

    def close(self) -> None:
        """Watch no more; repeatable."""
        if self._ends:
            return
        self._ends = True
        self._bell.send(b"!")
        self._thread.join()
        for descriptor in self._by_descriptor:
            os.close(descriptor)
        self._by_descriptor.clear()
        self._ear.close()
        self._bell.close()

    def _run(self) -> None:
        while not self._ends:
            for descriptor, _ in self._poll.poll(LOOK * 1000 if self._looked_at else None):
                if descriptor == self._ear.fileno():
                    self._ear.recv(4096)
                else:
                    self._told(descriptor)
            self._look()

    def _told(self, descriptor: int) -> None:
        with self._gate:
            self._poll.unregister(descriptor)
            process, died = self._by_descriptor.pop(descriptor)
        os.close(descriptor)
        _tell(process, died)

    def _look(self) -> None:
        with self._gate:
            gone = [process for process in self._looked_at if not is_alive(process)]
            told = [(process, self._looked_at.pop(process)) for process in gone]
        for process, died in told:
            _tell(process, died)


def _tell(process: ProcessIdentity, died: Callable[[], None]) -> None:
    _reap(process)
    try:
        died()
    except Exception:
        logger.exception("A mistake over the death of process %d", process.pid)


def _reap(process: ProcessIdentity) -> None:
    """Let go of a child of ours: as a zombie it would keep its id for ever."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)
