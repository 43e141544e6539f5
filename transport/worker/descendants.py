"""Descendants of a command that left its process group, found through /proc where there is one."""

import os
import signal
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

YOUNG: Final = 0.3
ROUNDS: Final = 50
ENVIRONMENT_LIMIT: Final = 4 * 1024 * 1024
TURNS_VARIABLE: Final = "SHOWCALLER_TURNS"
_ASSIGNMENT: Final = b"\0" + TURNS_VARIABLE.encode() + b"="


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

    def _candidates(self, now: float) -> Iterator[int]:
        """Give the processes that may be strays: those started after the leader, where that can be told."""
        pids = _pids()
        last = _last_pid() if now - self._started < YOUNG else None  # after the list: none of it is later
        for pid in pids:
            if pid not in self._leaders and (last is None or started_between(self._leader, pid, last)):
                yield pid

    def _signal(self, pid: int, number: int) -> bool:
        """Signal a process if it is a stray, and still is when its id can no longer change hands."""
        if not self._is_stray(pid):
            return False
        try:
            descriptor = os.pidfd_open(pid)
        except (AttributeError, OSError):
            return False
        try:
            if not self._is_stray(pid):
                return False
            signal.pidfd_send_signal(descriptor, number)
        except (ProcessLookupError, PermissionError):
            return False
        finally:
            os.close(descriptor)
        return True

    def _is_stray(self, pid: int) -> bool:
        stat = _stat(pid)
        if stat is None or stat.state == b"Z" or stat.group == self._leader:
            return False
        return stat.session == self._leader or self._turn in _turns_of(pid)


def started_between(leader: int, pid: int, last: int) -> bool:
    """Say whether an id was given out after the leader's, if ``last`` is the latest and less than a round on.

    Ids rise until they wrap, so the ids in between tell old processes from new ones without a look at
    them; a leader younger than ``YOUNG`` cannot have seen a whole round. Pure.
    """
    if leader <= last:
        return leader < pid <= last
    return pid > leader or pid <= last


class _Stat(NamedTuple):
    state: bytes
    group: int
    session: int


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - the hot path
    except OSError:
        return []


def _last_pid() -> int | None:
    """Give the id that was given out last, None if the system does not say."""
    last = _read("/proc/loadavg", 4096).split()[-1:]
    return int(last[0]) if last and last[0].isdigit() else None


def _stat(pid: int) -> _Stat | None:
    """Read a process's stat line, where its name may hold anything, but ends at the last ``)``."""
    fields = _read(f"/proc/{pid}/stat", 4096).rpartition(b")")[2].split()
    return _Stat(fields[0], int(fields[2]), int(fields[3])) if len(fields) > 3 else None


def _turns_of(pid: int) -> list[str]:
    environment = b"\0" + _read(f"/proc/{pid}/environ", ENVIRONMENT_LIMIT)
    value = environment.partition(_ASSIGNMENT)[2].partition(b"\0")[0]
    return os.fsdecode(value).split()


def turns_around(environment: Mapping[str, str], turn: str) -> str:
    """Give the value of ``TURNS_VARIABLE`` for a turn that is run in this environment: it and those outside.

    A relay that itself runs in a turn hands its commands on to the outer one, which finds them as well. Pure.
    """
    return f"{environment.get(TURNS_VARIABLE, '')} {turn}".strip()


def _read(path: str, limit: int) -> bytes:
    """Read a file of /proc; empty when its process is gone or not ours to look at."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - the hot path
            return file.read(limit)
    except OSError:
        return b""
