"""Opening files of a data folder that somebody may have replaced: ordinary ones, or a refusal at once.

To open a pipe waits until somebody comes to its other end, and a device may do anything.
"""

import errno
import os
import stat
from pathlib import Path
from typing import Final

_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a symbolic link",
}


class NoOrdinaryFileError(OSError):
    """Something else is in the place of a file; ``strerror`` says what, ``filename`` where."""

    def __init__(self, path: Path, kind: int) -> None:
        what = _KINDS.get(kind, "something else")
        super().__init__(errno.EINVAL, f"it is {what} and no ordinary file", str(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}; move it away"


def open_ordinary(path: Path, flags: int) -> int:
    """Open a file as ``os.open`` does, made for its owner alone, without ever waiting; gives its descriptor.

    Raises OSError, ``NoOrdinaryFileError`` for what is none, a link included.
    """
    further = os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags | further, 0o600)
    except OSError:  # a folder, a link, a socket or a pipe without a reader, or nothing that is meant here
        _check(path)
        raise
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        raise NoOrdinaryFileError(path, kind)
    return descriptor


def read_ordinary(path: Path, limit: int = -1) -> bytes:
    """Read a file, at most ``limit`` bytes of it; raises as ``open_ordinary``."""
    with os.fdopen(open_ordinary(path, os.O_RDONLY), "rb") as file:
        return file.read(limit)


def _check(path: Path) -> None:
    try:
        kind = stat.S_IFMT(path.lstat().st_mode)
    except OSError:
        return
    if kind != stat.S_IFREG:
        raise NoOrdinaryFileError(path, kind)
