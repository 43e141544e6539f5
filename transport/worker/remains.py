"""What a worker leaves behind at its death: processes that carry its marker, and what stems from them."""

import os
import select
import signal
from collections.abc import Collection
from contextlib import suppress
from typing import Final, NamedTuple

from showcaller.transport.worker.process_table import is_ours, markers_of, process_ids, stat_of

WORKERS_VARIABLE: Final = "SHOWCALLER_WORKERS"
"""Holds the marker of a worker, behind those of the workers around it, in all that the worker starts."""
ROUNDS: Final = 50
PAUSE: Final = 0.2
"""Seconds that one round waits for what it has killed."""
LOOKS: Final = 50
LOOK: Final = 0.01
"""Seconds between two looks at what was just becoming another program."""


class Ended(NamedTuple):
    """How many processes were killed, and the ids of those that are there nevertheless."""

    killed: int
    left: frozenset[int]


def end_remains(markers: Collection[str], since: int | None = None) -> Ended:
    """Kill what carries one of these markers, and what stems from that, until nothing of it is there.

    Nothing of it was started before ``since``, in ticks since the machine's start, if that is known. The
    process that calls is spared, and so is what it may not signal. Returns when all has gone, or some of
    it hangs in the system for ten seconds. Where there is no /proc, or no descriptors of processes, nothing
    is found.
    """
    wanted = frozenset(markers)
    killed: set[int] = set()
    rounds, looks = ROUNDS if wanted else 0, LOOKS
    dying: frozenset[int] = frozenset()
    while rounds:
        found = _Found(wanted, since or 0)
        try:
            found.freeze()
            dying = found.kill()
        finally:
            found.close()
        if dying:
            killed |= dying
            rounds -= 1
        elif found.may_show_more and looks:
            select.select([], [], [], LOOK)
            looks -= 1
        else:
            break
    return Ended(len(killed), dying)


class _Found:
    """Processes that are held by descriptors, so that their ids do not change hands."""

    def __init__(self, markers: frozenset[str], since: int) -> None:
        self._markers = markers
        self._since = since
        self._held: dict[int, int] = {}
        self.may_show_more = False
        """Whether one was seen of which nothing could be told yet."""

    def freeze(self) -> None:
        """Stop what is there until nothing new appears.

        One that is killed first would leave what it has just started to others, and nobody could tell whose
        it was.
        """
        for _ in range(ROUNDS):
            self.may_show_more = False
            stopped = [pid for pid in process_ids() if pid not in self._held and self._stop(pid)]
            if not stopped:
                return

    def kill(self) -> frozenset[int]:
        """Kill what is held, give it a moment to end, and tell what it was."""
        for descriptor in self._held.values():
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        deaths = select.poll()
        alive = set(self._held.values())
        for descriptor in alive:
            deaths.register(descriptor, select.POLLIN)
        while alive and (ended := deaths.poll(PAUSE * 1000)):
            for descriptor, _ in ended:
                deaths.unregister(descriptor)
                alive.discard(descriptor)
        return frozenset(self._held)

    def close(self) -> None:
        for descriptor in self._held.values():
            os.close(descriptor)

    def _stop(self, pid: int) -> bool:
        """Hold a process and stop it, if it is meant, and still is when its id cannot change hands."""
        if pid == os.getpid() or not self._stems(pid):
            return False
        try:
            descriptor = os.pidfd_open(pid)
        except (AttributeError, OSError):
            return False
        try:
            if not self._stems(pid):
                raise ProcessLookupError(pid)
            signal.pidfd_send_signal(descriptor, signal.SIGSTOP)
        except (ProcessLookupError, PermissionError):
            os.close(descriptor)
            return False
        self._held[pid] = descriptor
        return True

    def _stems(self, pid: int) -> bool:
        """Say whether a process, or one that it stems from, carries a marker."""
        while pid > 1:
            stat = stat_of(pid)
            if stat is None or stat.has_ended or stat.started < self._since:
                return False
            markers = markers_of(pid, WORKERS_VARIABLE)
            self.may_show_more |= markers is None and is_ours(pid)
            if not self._markers.isdisjoint(markers or ()):
                return True
            pid = stat.parent
        return False
