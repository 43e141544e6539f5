"""Descendants of a command that left its process group, found through /proc where there is one."""

import signal
from collections.abc import Iterator, Mapping
from typing import Final

from showcaller.transport.worker.process_identity import signal_if
from showcaller.transport.worker.process_table import (
    last_process_id,
    markers_around,
    markers_of,
    process_ids,
    stat_of,
)

YOUNG: Final = 0.3
ROUNDS: Final = 50
TURNS_VARIABLE: Final = "SHOWCALLER_TURNS"


class Family:
    """The processes that stem from one session leader, which must not be reaped while this is used.

    A stray is a process outside the leader's group that is of the leader's session, or has ``turn`` among
    the turns that its environment names (``turns_around``). One that left the session *and* emptied its
    environment is not found; without /proc none is. ``leaders`` holds the leaders of all families that are
    watched together: none is another's stray, so nobody need look at them. Not thread-safe.
    """

    def __init__(self, leader: int, turn: str, started: float, leaders: set[int]) -> None:
        self._leader = leader
        self._leaders = leaders
        leaders.add(leader)
        self._turn = turn
        self._started = started

    def forget(self) -> None:
        """Take the leader out of the leaders, because it is about to be reaped."""
        self._leaders.discard(self._leader)

    def signal_strays(self, number: int, now: float) -> set[int]:
        """Send every stray a signal and give their process ids; SIGKILL again until no new ones appear."""
        signalled: set[int] = set()
        for _ in range(ROUNDS if number == signal.SIGKILL else 1):
            found = {pid for pid in self._candidates(now) if self._signal(pid, number)}
            if found <= signalled:
                break
            signalled |= found
        return signalled

    def members(self, now: float) -> list[int] | None:
        """Give the ids of those that run but the leader, oldest first; None where the system does not say."""
        if stat_of(self._leader) is None:
            return None
        found = ((self._start_of_member(pid), pid) for pid in self._candidates(now))
        return [pid for _, pid in sorted((start, pid) for start, pid in found if start is not None)]

    def has_member(self, pid: int) -> bool:
        """Say whether a process other than the leader runs and is of this family."""
        return self._start_of_member(pid) is not None

    def _start_of_member(self, pid: int) -> int | None:
        stat = stat_of(pid)
        if stat is None or stat.has_ended or (stat.group != self._leader and not self._is_stray(pid)):
            return None
        return stat.started

    def _candidates(self, now: float) -> Iterator[int]:
        """Give the processes that may be strays: those started after the leader, where that can be told."""
        pids = process_ids()
        last = (
            last_process_id() if now - self._started < YOUNG else None
        )  # after the list: none of it is later
        for pid in pids:
            if pid not in self._leaders and (last is None or started_between(self._leader, pid, last)):
                yield pid

    def _signal(self, pid: int, number: int) -> bool:
        """Signal a process if it is a stray, and still is when its id can no longer change hands."""
        if not self._is_stray(pid):
            return False
        try:
            return signal_if(pid, number, lambda: self._is_stray(pid))
        except (AttributeError, OSError):
            return False

    def _is_stray(self, pid: int) -> bool:
        stat = stat_of(pid)
        if stat is None or stat.has_ended or stat.group == self._leader:
            return False
        return stat.session == self._leader or self._turn in markers_of(pid, TURNS_VARIABLE)


def started_between(leader: int, pid: int, last: int) -> bool:
    """Say whether an id was given out after the leader's, if ``last`` is the latest and less than a round on.

    Ids rise until they wrap, so the ids in between tell old processes from new ones without a look at
    them; a leader younger than ``YOUNG`` cannot have seen a whole round. Pure.
    """
    if leader <= last:
        return leader < pid <= last
    return pid > leader or pid <= last


def turns_around(environment: Mapping[str, str], turn: str) -> str:
    """Give the value of ``TURNS_VARIABLE`` for a turn that is run in this environment: it and those outside.

    A relay that itself runs in a turn hands its commands on to the outer one, which finds them as well. Pure.
    """
    return markers_around(environment, TURNS_VARIABLE, turn)
