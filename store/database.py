"""Opening the file that holds the store, for the one writer and for readers."""

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from peewee import PeeweeException, SqliteDatabase

from showcaller.store.errors import (
    StoreDamaged,
    StoreError,
    StoreForeign,
    StoreMissing,
    StoreOlder,
    StoreUnavailable,
    os_refusal,
    storage_error,
)
from showcaller.store.models import WriterBatch
from showcaller.store.places import check_kind
from showcaller.store.schema import check_as_made, check_tables, damaged_schema, migrate, pending
from showcaller.store.soundness import folded
from showcaller.store.statement import Statement

APPLICATION_ID: Final = 0x53484F57
"""Marks a file as ours (``PRAGMA application_id``)."""

BUSY_SECONDS: Final = 5.0
CHECKPOINT_PAGES: Final = 4000
"""Pages of the log after which it is worked into the file: the fewer times, the fewer syncs (16 MB)."""

_MAGIC: Final = b"SQLite format 3\x00"
_CHECKED_BYTES: Final = 256 * 1024 * 1024
_CLAIM: Final = Statement(
    WriterBatch.insert(id=1, epoch=1)
    .on_conflict(conflict_target=[WriterBatch.id], update={WriterBatch.epoch: WriterBatch.epoch + 1})
    .returning(WriterBatch.epoch)
)


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """An open file: its path, its connection, and for a writer the epoch that it holds (0 for readers).

    The connection may be used from any thread, by one at a time.
    """

    path: Path
    connection: sqlite3.Connection
    epoch: int = 0

    def close(self) -> None:
        """Close the connection; harmless when it is closed already."""
        self.connection.close()


def open_for_writing(path: Path | str, *, busy_seconds: float = BUSY_SECONDS) -> OpenDatabase:
    """Open the store as its writer: made when missing, brought to this version's schema, and claimed.

    From here on the batches of every writer that opened the file before are refused. Waits up to
    ``busy_seconds`` for another process's lock, now and at every batch. After an unclean end the content
    is checked, unless it is so large (256 MiB) that the check would hold up the start for seconds.
    Raises a StoreError that says what is wrong.
    """
    file = Path(path).absolute()
    check_kind(file)
    _make_file(file)
    unclean = _write_ahead_log(file)
    _check_head(file, whole=not unclean)
    pragmas = {
        "journal_mode": "wal",
        "synchronous": "full",
        "cache_size": -16000,
        "wal_autocheckpoint": CHECKPOINT_PAGES,
        "journal_size_limit": 64 * 1024 * 1024,
    }
    database = _database(file, "rwc", busy_seconds, pragmas)
    try:
        connection = _connect(database)
        if unclean and file.stat().st_size <= _CHECKED_BYTES:
            _check_content(file, connection)
        _check_owner(file, connection)
        if pending(file, database):
            database.pragma("application_id", APPLICATION_ID)
            migrate(file, database)
        check_tables(file, connection)
        return OpenDatabase(file, connection, _claim(connection))
    except (PeeweeException, sqlite3.Error, UnicodeDecodeError) as error:
        database.close()
        raise _translated(error, file) from error
    except BaseException:
        database.close()
        raise


def open_for_reading(path: Path | str, *, busy_seconds: float = BUSY_SECONDS) -> OpenDatabase:
    """Open the store for queries alone; raises a StoreError that says what is wrong.

    A file with an older or newer schema than this version's is refused: only a writer may change it.
    """
    file = Path(path).absolute()
    check_kind(file)
    _check_head(file, whole=not _write_ahead_log(file))
    database = _database(file, "ro", busy_seconds, {"query_only": 1})
    try:
        connection = _connect(database)
        _check_owner(file, connection)
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise StoreMissing(file, "it is empty; run something first")
        if pending(file, database):
            raise StoreOlder(
                file, "it was written by an older version; start the relay once, which converts it"
            )
        check_tables(file, connection)
        connection.create_function("folded", 1, folded, deterministic=True)
        return OpenDatabase(file, connection)
    except (PeeweeException, sqlite3.Error, UnicodeDecodeError) as error:
        database.close()
        raise _translated(error, file) from error
    except BaseException:
        database.close()
        raise


def check_untouched(path: Path | str) -> None:
    """Look whether a store has all that its version makes and nothing else, before anything is written to it.

    Raises a StoreError that names what is there besides.
    """
    file = Path(path).absolute()
    _check_head(file, whole=True)
    database = _database(file, "ro", BUSY_SECONDS, {"query_only": 1, "trusted_schema": 0})
    try:
        _check_owner(file, _connect(database))
        check_as_made(file, database)
    except (PeeweeException, sqlite3.Error, UnicodeDecodeError) as error:
        raise _translated(error, file) from error
    finally:
        database.close()


def reading_uri(file: Path) -> str:
    """Name a database to SQLite as one to read; where nothing can change it, SQLite needs no files beside it.

    Raises StoreUnavailable for one whose log would have to be worked through on a disk that lets nobody.
    """
    uri = f"file:{quote(os.fsencode(file))}?mode=ro"
    if _beside(file, "-shm").exists() or not _disk_is_read_only(file.parent):
        return uri
    if _write_ahead_log(file):
        raise StoreUnavailable(
            file, "its relay was cut off and its disk may only be read; copy it to a disk that can be written"
        )
    return f"{uri}&immutable=1"


def _disk_is_read_only(folder: Path) -> bool:
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:  # to open the file will say why
        return False


def _beside(file: Path, ending: str) -> Path:
    return file.with_name(file.name + ending)


def _database(file: Path, mode: str, busy_seconds: float, pragmas: dict[str, Any]) -> SqliteDatabase:
    return SqliteDatabase(
        reading_uri(file) if mode == "ro" else f"file:{quote(os.fsencode(file))}?mode={mode}",
        pragmas=pragmas,
        timeout=busy_seconds,
        uri=True,
        thread_safe=False,
        check_same_thread=False,
    )


def _connect(database: SqliteDatabase) -> sqlite3.Connection:
    database.connect()
    connection: sqlite3.Connection = database.connection()
    return connection


def _translated(error: BaseException, file: Path) -> StoreError:
    """Say what is wrong with a file; what our own statements do not find there was lost."""
    return storage_error(error, file) or damaged_schema(file, str(error))


def _make_file(file: Path) -> None:
    """Make the file readable for its owner alone, before SQLite would make it with what the umask allows."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise os_refusal(file, error) from error


def _write_ahead_log(file: Path) -> bool:
    """Say whether the last writer left work in the log, which it does only when it did not end properly."""
    try:
        return _beside(file, "-wal").stat().st_size > 0
    except OSError:
        return False


def _check_head(file: Path, *, whole: bool) -> None:
    """Look at the first bytes: is it SQLite, and (with nothing left in the log) is it all there?"""
    try:
        with file.open("rb") as stream:
            head = stream.read(100)
            size = os.fstat(stream.fileno()).st_size
    except OSError as error:
        raise os_refusal(file, error) from error
    if not head:
        return
    if len(head) < 100 or not head.startswith(_MAGIC):
        raise StoreDamaged(file, "it is not an SQLite database; move the file away, or name another one")
    page_size = int.from_bytes(head[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    expected = int.from_bytes(head[28:32], "big") * page_size
    if whole and size < expected:
        raise StoreDamaged(
            file,
            f"{expected - size} of its {expected} bytes are missing; restore a backup, or move the file away",
        )


def _check_content(file: Path, connection: sqlite3.Connection) -> None:
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreDamaged(
            file,
            f"its content is damaged ({verdict}); restore a backup, or move the file away to start empty",
        )


def _check_owner(file: Path, connection: sqlite3.Connection) -> None:
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    if owner == APPLICATION_ID:
        return
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables or owner:
        raise StoreForeign(file, "it is a database of another program; name another file")


def _claim(connection: sqlite3.Connection) -> int:
    connection.execute("BEGIN IMMEDIATE")
    row = _CLAIM.row(connection)
    connection.execute("COMMIT")
    if row is None:
        raise RuntimeError("the claim on the store gave no epoch")
    epoch: int = row[0]
    return epoch
