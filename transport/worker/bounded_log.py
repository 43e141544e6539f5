"""A log that cannot fill a disk: a file and the one before it, each within a size."""

import contextlib
import io
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

LIMIT: Final = 8 * 1024 * 1024
"""Bytes of one of the two files."""


def before(path: Path) -> Path:
    """Give the file to which a log that is full is moved."""
    return path.with_name(f"{path.name}.1")


class BoundedLog(io.RawIOBase):
    """Appends to ``path``, and goes on in a new file of this name when that would grow beyond ``limit``.

    The full one is then ``before(path)``, in the place of an earlier one. ``stand_ins`` are descriptors that
    write into the log as well, whoever uses them; what comes that way is noticed at the next write. What a
    disk does not take is lost without an error: nobody's work fails for want of its log. Thread-safe.
    """

    def __init__(self, path: Path, limit: int = LIMIT, stand_ins: Sequence[int] = ()) -> None:
        """Open the file, for its owner alone; raises OSError."""
        self._path = path
        self._limit = limit
        self._stand_ins = stand_ins
        self._gate = threading.Lock()
        self._file = _opened(path)
        self._stand_in()

    def writable(self) -> bool:
        """Say yes."""
        return True

    def write(self, data: "ReadableBuffer", /) -> int:
        """Append all of this, or its end when it alone is larger than a file; gives its length."""
        piece = bytes(data)
        with self._gate, contextlib.suppress(OSError):
            written = os.fstat(self._file).st_size
            if written and written + len(piece) > self._limit:
                self._turn_over()
            os.write(self._file, piece[-self._limit :])
        return len(piece)

    def close(self) -> None:
        """Let go of the file; stand-ins stay. Repeatable."""
        if not self.closed:
            os.close(self._file)
        super().close()

    def _turn_over(self) -> None:
        try:
            self._path.replace(before(self._path))
            opened = _opened(self._path)
        except OSError:  # the bound is kept all the same
            os.ftruncate(self._file, 0)
            return
        os.dup2(opened, self._file, inheritable=False)
        os.close(opened)
        self._stand_in()

    def _stand_in(self) -> None:
        for descriptor in self._stand_ins:
            os.dup2(self._file, descriptor)


def log_stream(log: BoundedLog) -> TextIO:
    """Give what text is written to, each piece at once; like a standard stream it takes any text."""
    return io.TextIOWrapper(log, encoding="utf-8", errors="backslashreplace", write_through=True)  # type: ignore[type-var]


def _opened(path: Path) -> int:
    # A device will do, and a pipe if somebody reads it; to wait until somebody does will not.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
    return os.open(path, flags, 0o600)
