"""Descendants of a command that left its process group, found through /proc where there is one."""

import select
import signal
from collections.abc import Iterator, Mapping
from typing import Final

from showcaller.transport.worker.process_identity import signal_if
from showcaller.transport.worker.process_table import (
    Stat,
    is_ours,
    last_process_id,
    markers_around,
    markers_of,
    process_ids,
    stat_of,
)

YOUNG: Final = 0.3
ROUNDS: Final = 50
LOOKS: Final = 2
"""How often it is looked once more because a process has ended in between."""
BLANK_LOOKS: Final = 1000
"""How often it is looked once more because a process just becomes another program, on a busy machine too."""
PAUSE: Final = 0.002
"""Seconds that such a process is given."""
TURNS_VARIABLE: Final = "SHOWCALLER_TURNS"


class Doubts:
    """Why a look at the processes may have missed one, and how often one more look is worth while."""

    def __init__(self) -> None:
        self.has_gone = False
        """One that has ended since the list was made may have left another, which is not on it."""
        self.is_blank = False
        """What just becomes another program has no environment, and so no marker, for a moment."""
        self._looks = LOOKS
        self._blank_looks = BLANK_LOOKS

    def ask_for_another_look(self) -> bool:
        """Tell whether to look again, with these doubts laid aside."""
        has_gone, self.has_gone = self.has_gone, False
        is_blank, self.is_blank = self.is_blank, False
        if is_blank and self._blank_looks:
            self._blank_looks -= 1
            select.select([], [], [], PAUSE)
            return True
        self._looks -= has_gone
        return has_gone and self._looks >= 0


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
        doubts = Doubts()
        for _ in range(ROUNDS if number == signal.SIGKILL else 1):
            found = {pid for pid in self._look(now, doubts) if self._signal(pid, number)}
            if found <= signalled and not doubts.ask_for_another_look():
                break
            signalled |= found
        return signalled

    def members(self, now: float) -> list[int] | None:
        """Give the ids of those that run but the leader, oldest first; None where the system does not say."""
        if stat_of(self._leader) is None:
            return None
        doubts = Doubts()
        found = self._look(now, doubts)
        while not found and doubts.ask_for_another_look():
            found = self._look(now, doubts)
        return found

    def _look(self, now: float, doubts: "Doubts") -> list[int]:
        found: list[tuple[int, int]] = []
        leader = stat_of(self._leader)
        since = 0 if leader is None else leader.started
        for pid in self._candidates(now):
            stat = stat_of(pid)
            if stat is None:
                doubts.has_gone = True
            elif stat.started < since or self._is_anothers(stat):
                continue
            elif stat.has_ended:
                doubts.has_gone = True
            elif is_member := self._is_member(pid, stat):
                found.append((stat.started, pid))
            else:
                doubts.is_blank |= is_member is None and is_ours(pid)
        return [pid for _, pid in sorted(found)]

    def has_member(self, pid: int) -> bool:
        """Say whether a process other than the leader runs and is of this family."""
        stat = stat_of(pid)
        return stat is not None and not stat.has_ended and self._is_member(pid, stat) is True

    def _is_anothers(self, stat: Stat) -> bool:
        return stat.session != self._leader and stat.session in self._leaders

    def _is_member(self, pid: int, stat: Stat) -> bool | None:
        """Say whether what runs is of this family; None when that cannot be told yet."""
        if self._leader in (stat.group, stat.session):
            return True
        markers = markers_of(pid, TURNS_VARIABLE)
        return None if markers is None else self._turn in markers

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
        return self._is_member(pid, stat) is True


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
