"""Waiting for a relay to come back: every start of one opens a named pipe, so nobody has to poll."""

import contextlib
import errno
import os
import select
import socket
from pathlib import Path
from typing import Final, Self

FILE: Final = "started"


def announce(home: Path) -> None:
    """Wake everybody who waits for this relay; the file that says where it listens has to be there."""
    path = home / FILE
    with contextlib.suppress(FileExistsError):
        os.mkfifo(path, 0o600)
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as error:
        if error.errno != errno.ENXIO:  # nobody waits
            raise


class Return:
    """Hears of starts from the moment it is made; to be left when they do not matter any more."""

    def __init__(self, home: Path) -> None:
        path = home / FILE
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        self._pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._ear, self._bell = socket.socketpair()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._pipe)
        self._ear.close()
        self._bell.close()

    def give_up(self) -> None:
        """Let ``wait`` return at once. Callable from any thread."""
        with contextlib.suppress(OSError):
            self._bell.send(b"!")

    def wait(self, seconds: float) -> bool:
        """Wait for a start; False when there was none in time, or when it was given up."""
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        poll.register(self._ear, select.POLLIN)
        return any(descriptor == self._pipe for descriptor, _ in poll.poll(seconds * 1000))
