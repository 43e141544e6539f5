"""A token in the making: it is in a file before the relay is asked for it, and until somebody else has it.

So none is lost that is in force: whoever wants a token of the name next goes on with the one that was left.
The standard library alone, for the bridge between an MCP client and the relay, which has to start at once.
"""

import fcntl
import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_urlsafe
from typing import Final

from showcaller.actors.contract.token_names import PREFIXES, RANDOM_BYTES
from showcaller.transport.doors.start_error import RelayStartError
from showcaller.transport.ordinary_files import open_ordinary

FOLDER: Final = "clients"

_LIMIT: Final = 4096
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@contextmanager
def alone(home: Path) -> Generator[None]:
    """Be the only one who has tokens made: two at once would each revoke the other's.

    Raises ``RelayStartError``.
    """
    folder = home / FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise RelayStartError(
                f"{folder}, in which clients' tokens are kept, is no folder.", "Move it away."
            )
        lock = open_ordinary(folder / ".lock", os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise RelayStartError(
            f"The folder of clients' tokens {folder} cannot be used: {error.strerror}.",
            "Check who owns it and whether its disk has free space.",
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


class TokenInMaking:
    """A token of a kind for a checked name, which the relay is to be asked for.

    Used inside of ``alone``, so that nobody else is given it meanwhile. What an earlier making has left
    that was cut off is gone on with.
    """

    def __init__(self, home: Path, kind: str, name: str) -> None:
        """Raises ``RelayStartError`` when it cannot be kept."""
        self._path = home / FOLDER / f".{kind}.{name}.making"
        self._prefix = PREFIXES[kind]
        left = kept_token(self._path)
        self._was_left = left is not None
        self.token = left if left is not None else self._another()

    @property
    def hash(self) -> str:
        """What the relay is told of it."""
        return hashlib.sha256(self.token.encode()).hexdigest()

    def refused(self) -> bool:
        """Note that the relay does not take it; tells whether there is another now, in place of one left."""
        self.done()
        if not self._was_left:
            return False
        self._was_left = False
        self.token = self._another()
        return True

    def done(self) -> None:
        """Forget it, because somebody else has it, or because it will never be in force."""
        self._path.unlink(missing_ok=True)

    def _another(self) -> str:
        token = self._prefix + token_urlsafe(RANDOM_BYTES)
        keep_token(self._path, token)
        return token


def kept_token(path: Path) -> str | None:
    """Give the token in a file; None when there is none. Raises ``RelayStartError``."""
    try:
        return secret_in(path)
    except FileNotFoundError:
        return None


def secret_in(path: Path) -> str:
    """Read a file that only its owner may read; raises FileNotFoundError and ``RelayStartError``."""
    try:
        descriptor = open_ordinary(path, os.O_RDONLY)
        with os.fdopen(descriptor, "rb") as file:
            if os.fstat(descriptor).st_mode & _OTHERS:
                raise RelayStartError(
                    f"The token {path} may be read by others.",
                    "Delete it, and have another one made: one that others have read is no secret any more.",
                )
            token = file.read(_LIMIT).strip().decode("ascii")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RelayStartError(
            f"The token {path} cannot be read: {error.strerror}.", "Move it away."
        ) from error
    except UnicodeError as error:
        raise RelayStartError(f"The file {path} holds no token.", "Delete it.") from error
    if not token or not token.replace("-", "").replace("_", "").isalnum():
        raise RelayStartError(f"The file {path} holds no token.", "Delete it.")
    return token


def keep_token(path: Path, token: str) -> None:
    """Write a token into a file, whole or not at all; raises ``RelayStartError``."""
    partly = path.with_name(f".{os.urandom(4).hex()}.partly")
    try:
        descriptor = os.open(partly, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(token + "\n")
                file.flush()
                os.fsync(file.fileno())
            partly.replace(path)
            _flush(path.parent)
        except BaseException:
            partly.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise RelayStartError(
            f"The token {path} cannot be written: {error.strerror}.",
            "Check who owns the folder and whether its disk has free space.",
        ) from error


def _flush(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
