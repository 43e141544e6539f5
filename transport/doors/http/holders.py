"""Which processes hold a socket, or may hold one that we cannot see, as /proc says."""

import contextlib
import os
from collections.abc import Iterable
from typing import Final

_UNDER_WAY: Final = b"\nscm_fds:"


def holds(pid: int, socket: str) -> bool:
    """Tell whether a process holds a socket by its first thread, which mostly has all that it has."""
    return _is_among(f"/proc/{pid}/fd", socket)


def is_held_by(pid: int, socket: str) -> bool:
    """Tell whether a process holds a socket, by any of its threads: each can have descriptors of its own."""
    if holds(pid, socket):
        return True
    tasks = f"/proc/{pid}/task"
    return any(_is_among(f"{tasks}/{thread}/fd", socket) for thread in _listed(tasks) if thread != str(pid))


def children_of(pid: int) -> list[int]:
    """Give the processes that a process has started, by any of its threads, and that have not been reaped."""
    found: list[int] = []
    tasks = f"/proc/{pid}/task"
    for thread in _listed(tasks):
        found += map(int, _read(f"{tasks}/{thread}/children").split())
    return found


def below(pids: Iterable[int]) -> set[int]:
    """Give what hangs below these processes, at any depth."""
    found: set[int] = set()
    left = list(pids)
    while left:
        new = set(children_of(left.pop())) - found
        found |= new
        left += new
    return found


def is_hidden(pid: int, user: int) -> bool:
    """Tell whether a process is there whose descriptors we may not look at, and that acts as a user."""
    folder = f"/proc/{pid}/fd"
    try:
        for name in os.listdir(folder):  # noqa: PTH208 - the hot path
            with contextlib.suppress(FileNotFoundError):  # it was closed just now
                os.readlink(f"{folder}/{name}")  # noqa: PTH115 - the hot path
                return False  # who may look at one may look at all
    except PermissionError:
        return user in _users_of(pid)
    except OSError:  # it has ended
        return False
    return False


def has_descriptors_under_way(pid: int) -> bool:
    """Tell whether descriptors wait in a Unix socket of a process's, held by nobody until they are taken."""
    return any(
        _read(f"/proc/{pid}/fdinfo/{name}").partition(_UNDER_WAY)[2].split()[:1] not in ([], [b"0"])
        for name in _listed(f"/proc/{pid}/fd")
        if _target(f"/proc/{pid}/fd/{name}").startswith("socket:")
    )


def _users_of(pid: int) -> list[int]:
    """Give the users as which a process may act; none when it has ended."""
    for line in _read(f"/proc/{pid}/status").splitlines():
        if line.startswith(b"Uid:"):
            return [int(user) for user in line.split()[1:]]
    return []


def _is_among(folder: str, socket: str) -> bool:
    return any(_target(f"{folder}/{name}") == socket for name in _listed(folder))


def _target(descriptor: str) -> str:
    try:
        return os.readlink(descriptor)  # noqa: PTH115 - the hot path
    except OSError:
        return ""


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - the hot path
    except OSError:
        return []


def _read(path: str) -> bytes:
    """Read a file of /proc; empty when its process is gone or not ours to look at."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - the hot path
            return file.read()
    except OSError:
        return b""
