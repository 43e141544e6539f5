"""The owner's token: made at the first start, kept in a file that only the owner may read."""

import hashlib
import hmac
import os
import re
import stat
from pathlib import Path
from secrets import token_urlsafe
from typing import Final

from showcaller.transport.doors.http.whereabouts import write_private
from showcaller.transport.doors.start_error import RelayStartError
from showcaller.transport.ordinary_files import NoOrdinaryFileError, open_ordinary

FILE: Final = "token"
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def read_token(home: Path) -> str:
    """Give the token of a data folder.

    Raises FileNotFoundError when there is none, and ``RelayStartError`` for one that cannot be used.
    """
    path = home / FILE
    try:
        descriptor = open_ordinary(path, os.O_RDONLY)
        with os.fdopen(descriptor) as file:
            if os.fstat(descriptor).st_mode & _OTHERS:
                raise RelayStartError(
                    f"The owner's token {path} may be read by others.",
                    "Delete it, and the next start of the relay makes another; one that others have read "
                    "is no secret any more.",
                )
            token = file.read(256).strip()
    except FileNotFoundError:
        raise
    except NoOrdinaryFileError as error:
        raise RelayStartError(
            f"The owner's token {path} cannot be read: {error.strerror}.",
            "Move it away, and the next start of the relay makes another.",
        ) from error
    except (OSError, UnicodeError) as error:
        raise RelayStartError(f"The owner's token {path} cannot be read: {error}.", _AFRESH) from error
    if not _FORM.fullmatch(token):
        raise RelayStartError(f"The file {path} holds no token.", _AFRESH)
    return token


_AFRESH: Final = "Delete it, and the next start of the relay makes another."


def own_token(home: Path) -> str:
    """Give the token of a data folder that the caller has locked, made if need be; raises as above."""
    try:
        return read_token(home)
    except FileNotFoundError:
        token = token_urlsafe(32)
    try:
        write_private(home / FILE, token + "\n")
    except OSError as error:
        raise RelayStartError(
            f"The owner's token {home / FILE} cannot be written: {error.strerror}.",
            "Check who owns the folder and whether its disk has free space.",
        ) from error
    return token


class TokenCheck:
    """Tells the owner's token from all others; it holds only a hash."""

    def __init__(self, token: str) -> None:
        self._hash = hashlib.sha256(token.encode()).digest()

    def is_owner(self, token: str) -> bool:
        """Whether this is the token; takes as long for a wrong one that begins right as for any other."""
        given = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        return hmac.compare_digest(given, self._hash)
