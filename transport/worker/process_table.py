"""What the system says of its processes, read from /proc; nothing where there is none."""

import os
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_MARK: Final = re.compile(r"(agt|msg|wrk)_[0-9a-z_.]+")
ENVIRONMENT_LIMIT: Final = 4 * 1024 * 1024
_KERNEL_THREAD: Final = 0x200000
_STAT_FIELDS: Final = (1, 2, 3, 6, 19, 23, 47, 48)
"""Parent, group, session, flags, start, where the code is, and both ends of the environment."""
_NO_CODE: Final = 1
"""Where the code is of what we may not look into; 0 is it until the environment of a new program is there."""


class Stat(NamedTuple):
    """What a process is; ``started`` is in ticks since the machine's start.

    ``environment`` is how many bytes it was started with: None when it has no environment, not even an empty
    one, because it just becomes another program, or we may not look into it.
    """

    state: bytes
    parent: int
    group: int
    session: int
    started: int
    environment: int | None

    @property
    def has_ended(self) -> bool:
        """Whether nothing of it is left but its place in the table."""
        return self.state in {b"Z", b"X"}


def process_ids() -> list[int]:
    """Give the ids of all processes."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - the hot path
    except OSError:
        return []


def last_process_id() -> int | None:
    """Give the id that was given out last, None if the system does not say."""
    last = _read("/proc/loadavg", 4096).split()[-1:]
    return int(last[0]) if last and last[0].isdigit() else None


def child_ids() -> list[int]:
    """Give the ids of this process's own children, if it has one thread, reaped ones left out."""
    me = os.getpid()
    return [int(pid) for pid in _read(f"/proc/{me}/task/{me}/children", ENVIRONMENT_LIMIT).split()]


def stat_of(pid: int) -> Stat | None:
    """Read a process's stat line, where its name may hold anything, but ends at the last ``)``."""
    fields = _read(f"/proc/{pid}/stat", 4096).rpartition(b")")[2].split()
    if len(fields) < 49:
        return None
    parent, group, session, flags, started, code, begins, ends = (int(fields[at]) for at in _STAT_FIELDS)
    environment = ends - begins if code > _NO_CODE or flags & _KERNEL_THREAD else None
    return Stat(fields[0], parent, group, session, started, environment)


def is_ours(pid: int) -> bool:
    """Say whether a process belongs to this user, who may look into it, so that it tells what it has."""
    try:
        return os.stat(f"/proc/{pid}").st_uid == os.geteuid()  # noqa: PTH116 - the hot path
    except OSError:
        return False


def markers_of(pid: int, variable: str) -> list[str] | None:
    """Give the words of a variable in the environment that a process was started with.

    None when that cannot be told: the process just becomes another program, which may have such words, or
    has gone, or we may not look into it.
    """
    environment = _read(f"/proc/{pid}/environ", ENVIRONMENT_LIMIT)
    if not environment:
        stat = stat_of(pid)
        return [] if stat is not None and stat.environment == 0 else None
    value = (b"\0" + environment).partition(b"\0" + variable.encode() + b"=")[2].partition(b"\0")[0]
    return os.fsdecode(value).split()


def markers_around(environment: Mapping[str, str], variable: str, marker: str) -> str:
    """Give the variable's value for what is started in this environment: its words, and this one. Pure.

    What itself runs inside of something marked hands on the outer marks, so that the outer one finds it too.
    What is no mark is not handed on.
    """
    return f"{marks_in(environment.get(variable, ''))} {marker}".strip()


def marks_in(text: str) -> str:
    """Give the marks among the words of a text. Pure."""
    return " ".join(word for word in text.split() if _MARK.fullmatch(word))


def _read(path: str, limit: int) -> bytes:
    """Read a file of /proc; empty when its process is gone or not ours to look at."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - the hot path
            return file.read(limit)
    except OSError:
        return b""
