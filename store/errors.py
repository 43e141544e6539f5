"""What can be wrong with the file that holds the store: every error names the file and the way out."""

import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path


class StoreError(Exception):
    """The store cannot be used; ``path`` is its file, the text says what happened and what to do.

    The subclasses say which kind of trouble it is; ``reason`` is the sentence without the file's name.
    """

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = Path(path)
        self.reason = reason


class StoreMissing(StoreError):
    """There is no such file, and the caller wanted to read one."""


class StoreExists(StoreError):
    """There is such a file, and the caller wanted to make it."""


class StoreForeign(StoreError):
    """The file belongs to another program."""


class StoreNewer(StoreError):
    """The file was written by a newer version than this one."""


class StoreOlder(StoreError):
    """The file has the tables of an older version, and the caller may only read."""


class StoreLocked(StoreError):
    """Another process holds the file's write lock."""


class StoreTaken(StoreError):
    """Another writer opened the file since; this one may not write any more."""


class StoreReadOnly(StoreError):
    """The permissions of the file or its folder, or how its disk is mounted, are in the way."""


class StoreFull(StoreError):
    """The disk, or what this process may use of it, is full."""


class StoreDamaged(StoreError):
    """The file is not what SQLite wrote."""


class StoreUnavailable(StoreError):
    """The operating system refused to open, read or write the file."""


class StoreClosed(StoreError):
    """Whoever asks closed the writer or the reader before."""


class WriterGone(StoreError):
    """The writer process ended and could not be started again."""


class RowDamaged(Exception):
    """A row holds a value that is never written there; the text names the table and the columns."""


_KINDS: dict[str, type[StoreError]] = {
    kind.__name__: kind
    for kind in (
        StoreMissing,
        StoreExists,
        StoreForeign,
        StoreNewer,
        StoreOlder,
        StoreLocked,
        StoreTaken,
        StoreReadOnly,
        StoreFull,
        StoreDamaged,
        StoreUnavailable,
        StoreClosed,
        WriterGone,
    )
}

_BY_CODE: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_BUSY: (
        StoreLocked,
        "another process is writing to it; end that process, or wait until it has finished",
    ),
    sqlite3.SQLITE_LOCKED: (StoreLocked, "another connection holds a lock on it; try again"),
    sqlite3.SQLITE_PROTOCOL: (StoreLocked, "its lock could not be had; check that its disk supports locks"),
    sqlite3.SQLITE_READONLY: (
        StoreReadOnly,
        "it cannot be written; check the permissions of the file and its folder, and how its disk is mounted",
    ),
    sqlite3.SQLITE_PERM: (
        StoreReadOnly,
        "access is denied; check the permissions of the file and its folder",
    ),
    sqlite3.SQLITE_FULL: (StoreFull, "the disk is full and nothing was stored; free some space"),
    sqlite3.SQLITE_CORRUPT: (
        StoreDamaged,
        "its content is damaged; restore a backup, or move the file away to start with an empty one",
    ),
    sqlite3.SQLITE_NOTADB: (
        StoreDamaged,
        "it is not an SQLite database; move the file away, or name another one",
    ),
    sqlite3.SQLITE_IOERR: (StoreUnavailable, "reading or writing failed; check the disk and its free space"),
    sqlite3.SQLITE_CANTOPEN: (
        StoreUnavailable,
        "it cannot be opened; check its folder and permissions, and whether too many files are open",
    ),
    sqlite3.SQLITE_NOLFS: (StoreUnavailable, "it is too large for its disk"),
}


_ROW_DAMAGED = (
    "what a row of it holds is damaged ({}); a check names all such rows, and a backup may have them whole"
)


def storage_error(error: BaseException, path: Path | str) -> StoreError | None:
    """Translate what SQLite says about the file into an error that names it and the way out.

    Looks behind peewee's own exceptions, and past what a failed clean-up raised on top of the first trouble.
    Gives None when the error is no trouble with the storage but a mistake in a statement or a value.
    """
    for found in _causes(error):
        if _is_row_damage(found):
            return StoreDamaged(path, _ROW_DAMAGED.format(str(found).partition(" with text ")[0]))
        known = _BY_CODE.get(getattr(found, "sqlite_errorcode", 0) & 0xFF)
        if known is not None:
            kind, reason = known
            return kind(path, f"{reason} (SQLite: {found})")
    return None


def os_refusal(file: Path, error: OSError) -> StoreError:
    """Say which trouble the operating system's refusal of a file is."""
    if isinstance(error, FileNotFoundError):
        return StoreMissing(file, "there is no such file; name the right one, or run something first")
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return StoreReadOnly(
            file, f"access is refused ({error.strerror}); check its permissions and its disk"
        )
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StoreFull(file, f"it cannot be made ({error.strerror}); free some space")
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return StoreUnavailable(
            file, f"it cannot be opened ({error.strerror}); close some files, or raise the limit (ulimit -n)"
        )
    return StoreUnavailable(
        file, f"it cannot be opened ({error.strerror}); name another file or mend this one"
    )


def rebuilt_error(kind: str, path: str, reason: str) -> StoreError:
    """Make an error again from its parts, as they came from the writer process."""
    return _KINDS.get(kind, StoreUnavailable)(path, reason)


def is_row_damage(error: BaseException) -> bool:
    """Tell whether an error is about what one row holds, so that other rows may be read."""
    return any(map(_is_row_damage, _causes(error)))


def _is_row_damage(error: BaseException) -> bool:
    # Python gives no code of SQLite's with this one: it is its own.
    return isinstance(error, RowDamaged) or (
        isinstance(error, sqlite3.OperationalError) and str(error).startswith("Could not decode to UTF-8")
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
