"""Waiting for a relay to come back: every start of one opens a named pipe, so nobody has to poll."""

import contextlib
import errno
import logging
import os
import select
import socket
import stat
from pathlib import Path
from typing import Final, Self

FILE: Final = "started"
_NOBODY: Final = {errno.ENXIO}

logger = logging.getLogger("showcaller.http")


def announce(home: Path) -> None:
    """Wake everybody who waits for this relay; the file that says where it listens has to be there."""
    try:
        os.close(_open(home, os.O_WRONLY))
    except OSError as error:
        if error.errno not in _NOBODY:
            logger.warning("Whoever waits for this relay is not woken, but sees it later: %s", error)


def _open(home: Path, how: int) -> int:
    path = home / FILE
    with contextlib.suppress(FileExistsError):
        os.mkfifo(path, 0o600)
    opened = os.open(path, how | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    if not stat.S_ISFIFO(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(errno.EEXIST, "it is no pipe: move it away", str(path))
    return opened


class Return:
    """Hears of starts from the moment it is made; to be left when they do not matter any more.

    Where the file system has no named pipes it hears of none.
    """

    def __init__(self, home: Path) -> None:
        try:
            self._pipe: int | None = _open(home, os.O_RDONLY)
        except OSError:
            self._pipe = None
        self._ear, self._bell = socket.socketpair()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
        self._ear.close()
        self._bell.close()

    def give_up(self) -> None:
        """Let ``wait`` return at once. Callable from any thread."""
        with contextlib.suppress(OSError):
            self._bell.send(b"!")

    def wait(self, seconds: float) -> bool:
        """Wait for a start; False when it was given up, and True when one may have come meanwhile."""
        poll = select.poll()
        poll.register(self._ear, select.POLLIN)
        if self._pipe is not None:
            poll.register(self._pipe, select.POLLIN)
        came = [descriptor for descriptor, _ in poll.poll(seconds * 1000)]
        return self._ear.fileno() not in came and (bool(came) or self._pipe is None)
