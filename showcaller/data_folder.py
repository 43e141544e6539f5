"""The data folder: where a relay keeps everything, and the lock that makes it one relay's."""

import fcntl
import os
import platform
import re
import shlex
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from platformdirs import user_data_path

from showcaller.store.errors import StoreError
from showcaller.store.places import place
from showcaller.transport.doors.holder import FILE, LIMIT, holder, holder_in, lock_text
from showcaller.transport.doors.start_error import FolderInUse, RelayStartError
from showcaller.transport.ordinary_files import NoOrdinaryFileError, open_ordinary

HOME_VARIABLE = "SHOWCALLER_HOME"

_held: set[int] = set()


def _forget_locks() -> None:
    """Keep a forked child from holding its parent's folders: the lock is the parent's alone."""
    while _held:
        os.close(_held.pop())


os.register_at_fork(after_in_child=_forget_locks)


def default_home() -> Path:
    """The data folder that ``SHOWCALLER_HOME`` names, else the platform's place for user data."""
    named = os.environ.get(HOME_VARIABLE)
    return Path(named) if named else user_data_path("showcaller", appauthor=False)


def relay_name() -> str:
    """The name of a new relay: the host's, as far as it makes a plain word."""
    return re.sub(r"[^A-Za-z0-9-]+", "-", platform.node().split(".")[0]).strip("-") or "relay"


class HeldLock(NamedTuple):
    """The lock of a data folder while this process has it."""

    descriptor: int

    def is_of(self, home: Path) -> bool:
        """Whether this is the lock of the folder there still: it, or the folder, may have been deleted."""
        try:
            return os.path.samestat((home / FILE).lstat(), os.fstat(self.descriptor))
        except OSError:
            return False

    def tell(self, text: str) -> None:
        """Write into it what whoever finds the folder locked may know besides; raises OSError."""
        content = lock_text(text)
        os.pwrite(self.descriptor, content, 0)
        os.ftruncate(self.descriptor, len(content))


class DataFolder:
    """One relay's folder on disk."""

    def __init__(self, path: Path) -> None:
        """Take the folder's name; raises ``RelayStartError`` for text that can be no name of a folder."""
        try:
            self.path = place(path.expanduser())
        except (StoreError, RuntimeError) as error:  # RuntimeError: ``~`` of nobody
            raise RelayStartError(f"This cannot be a data folder: {error}.", "Name another one.") from error

    @property
    def database(self) -> Path:
        """The file of the store."""
        return self.path / "relay.db"

    def make(self) -> None:
        """Make the folder, for its owner alone, if it is missing; raises ``RelayStartError``.

        One into which others may write is refused: they could put anything in the place of its files.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            mode = stat.S_IMODE(self.path.stat().st_mode)
        except OSError as error:
            raise RelayStartError(
                f"The data folder {self.path} cannot be made: {error.strerror}.",
                f"Make it yourself, or name another one in {HOME_VARIABLE}.",
            ) from error
        if mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise RelayStartError(
                f"Others may write into the data folder {self.path} (mode {mode:03o}), and so change what "
                "the relay runs.",
                f"Forbid it: chmod go-w {shlex.quote(str(self.path))}",
            )

    def relay_runs(self) -> bool:
        """Whether the process that took the lock last is still there."""
        return holder(self.path) is not None

    @contextmanager
    def lock(self) -> Generator[HeldLock]:
        """Hold the folder for one relay; raises ``RelayStartError`` naming the process that holds it.

        The lock goes with the process that took it, however it ends; the file stays and says nothing.
        """
        path = self.path / FILE
        try:
            descriptor = open_ordinary(path, os.O_RDWR | os.O_CREAT)
        except NoOrdinaryFileError as error:
            raise RelayStartError(
                f"The lock {path} cannot be taken: {error.strerror}.", "Move it away."
            ) from error
        except OSError as error:
            raise RelayStartError(
                f"The lock {path} cannot be opened: {error.strerror}.",
                "Check who owns the folder and whether its disk can be written, "
                f"or name another folder in {HOME_VARIABLE}.",
            ) from error
        try:
            self._take(descriptor)
            _held.add(descriptor)
            yield HeldLock(descriptor)
        finally:
            _held.discard(descriptor)
            os.close(descriptor)

    def _take(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            named = holder_in(os.pread(descriptor, LIMIT, 0))
            raise FolderInUse(
                f"A relay is running already on {self.path} (process {named.pid if named else 'unknown'}).",
                f"Wait until it has ended, stop it, or name another folder (--home, or {HOME_VARIABLE}).",
            ) from error
        HeldLock(descriptor).tell("")
