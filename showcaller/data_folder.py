"""The data folder: where a relay keeps everything, and the lock that makes it one relay's."""

import fcntl
import os
import platform
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from platformdirs import user_data_path

from showcaller.store.errors import StoreError
from showcaller.store.places import check_kind, place
from showcaller.transport.doors.start_error import FolderInUse, RelayStartError

HOME_VARIABLE = "SHOWCALLER_HOME"

_LAST_PROCESS: Final = 2**31 - 1

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
        """Make the folder, for its owner alone, if it is missing; raises ``RelayStartError``."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise RelayStartError(
                f"The data folder {self.path} cannot be made: {error.strerror}.",
                f"Make it yourself, or name another one in {HOME_VARIABLE}.",
            ) from error

    def relay_runs(self) -> bool:
        """Whether the process that took the lock last is still there."""
        try:
            check_kind(self.path / "lock")
            holder = _holder((self.path / "lock").read_bytes())
        except (OSError, StoreError):
            return False
        return _is_there(int(holder)) if holder.isdecimal() else False

    @contextmanager
    def lock(self) -> Generator[None]:
        """Hold the folder for one relay; raises ``RelayStartError`` naming the process that holds it.

        The lock goes with the process that took it, however it ends; the file stays and says nothing.
        """
        path = self.path / "lock"
        try:
            check_kind(path)
        except StoreError as error:
            raise RelayStartError(f"The lock cannot be taken: {error}.", "Or move it away.") from error
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise RelayStartError(
                f"The lock {path} cannot be opened: {error.strerror}.",
                "Check who owns the folder and whether its disk can be written, "
                f"or name another folder in {HOME_VARIABLE}.",
            ) from error
        try:
            self._take(descriptor)
            _held.add(descriptor)
            yield
        finally:
            _held.discard(descriptor)
            os.close(descriptor)

    def _take(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _holder(os.pread(descriptor, 32, 0)) or "unknown"
            raise FolderInUse(
                f"A relay is running already on {self.path} (process {holder}).",
                f"Wait until it has ended, stop it, or name another folder (--home, or {HOME_VARIABLE}).",
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


def _is_there(process: int) -> bool:
    if not 0 < process <= _LAST_PROCESS:  # the system means other things by these
        return False
    try:
        os.kill(process, 0)
    except PermissionError:  # there, and somebody else's
        return True
    except OSError:
        return False
    return True


def _holder(content: bytes) -> str:
    return content[:32].decode("ascii", "replace").strip()
