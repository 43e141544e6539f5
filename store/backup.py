"""Copies of a store: made while the relay runs, and put back while it does not."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from showcaller.store.database import check_untouched, open_for_reading, open_for_writing, reading_uri
from showcaller.store.errors import (
    StoreDamaged,
    StoreError,
    StoreExists,
    StoreMissing,
    os_refusal,
    storage_error,
)
from showcaller.store.integrity import full_check
from showcaller.store.places import LOG_FILES, check_folder, check_kind, check_target, is_same, place


def back_up(database: Path | str, target: Path | str, *, replace: bool = False) -> Path:
    """Copy a store into one file, as it is at one moment, also while a relay writes to it.

    Args:
        database: the store's file.
        target: the file to make, readable for its owner alone; it is there whole or not at all.
        replace: whether an existing ``target`` may be replaced.

    Returns:
        The absolute path of ``target``.

    Raises:
        StoreExists: ``target`` exists and may not be replaced, or is part of this store or one in use.
        StoreError: the store cannot be read, or the copy not be written.

    """
    source, copy = place(database), place(target)
    check_target(source, copy)
    if not replace and os.path.lexists(copy):
        raise _exists(copy)
    check_folder(copy)
    with closing(open_for_reading(source)) as opened, _beside(copy) as staged:
        _copy(opened.connection, source, staged, copy)
        _put(staged, copy, replace=replace)
    return copy


def restore(
    backup: Path | str,
    database: Path | str,
    *,
    at: int,
    alone: Callable[[], AbstractContextManager[Any]],
) -> Path | None:
    """Put a copy that ``back_up`` made in the place of a store, which is kept beside it.

    The copy is checked in full before anything changes, and one of an earlier version is converted. The
    store is the old one or the new one at every moment, also when the machine goes off.

    Args:
        backup: the copy; it stays as it is.
        database: the store's file; its folder is made when it is missing.
        at: the time, in milliseconds since the epoch; all tokens of the copy are revoked with it.
        alone: holds the store for us while it is replaced, and raises when a relay runs on it.

    Returns:
        Where the replaced store is now, None when there was none.

    Raises:
        StoreError: the copy is missing, damaged, foreign or newer than this version, has tables or triggers
            that are none of ours, or cannot be written.

    """
    source, file = place(backup), place(database)
    if is_same(source, file):
        raise StoreExists(file, "it is the copy itself; name the copy to put in its place")
    with alone(), _beside(file) as staged:
        _stage(source, staged, file, at)
        return _exchange(staged, file)


def _stage(source: Path, staged: Path, file: Path, at: int) -> None:
    """Copy a backup and make sure that the copy is sound; what is wrong is said of the backup."""
    check_kind(source)
    try:
        if not source.stat().st_size:
            raise StoreMissing(source, "it is empty; name another copy")
    except OSError as error:
        raise os_refusal(source, error) from error
    try:
        connection = sqlite3.connect(reading_uri(source), uri=True)
        with closing(connection):
            _copy(connection, source, staged, file)
        check_untouched(staged)
        newest = _last_event(file)
        with closing(open_for_writing(staged)) as opened:
            _never_give_again(opened.connection, newest)
            _revoke_all(opened.connection, at)
        findings = full_check(staged)
    except sqlite3.Error as error:
        raise storage_error(error, source) or error from error
    except StoreError as error:
        if error.path == staged:
            raise type(error)(source, error.reason) from error
        raise
    if findings:
        raise StoreDamaged(source, f"it is not sound ({findings[0]}); name another copy")


def _copy(source: sqlite3.Connection, named: Path, staged: Path, wanted: Path) -> None:
    """Copy all pages at one moment into a file that needs no others beside it."""
    try:
        os.close(os.open(staged, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        with closing(sqlite3.connect(staged, isolation_level=None)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = delete")
        _flush(staged)
    except OSError as error:
        raise os_refusal(wanted, error) from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        at_fault = named if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB} else wanted
        raise storage_error(error, at_fault) or error from error


def _put(staged: Path, wanted: Path, *, replace: bool) -> None:
    """Give the finished copy its name."""
    try:
        if replace:
            staged.replace(wanted)
        else:
            # Unlike a rename, a link never takes the place of a file that has come meanwhile.
            os.link(staged, wanted)
        _flush(wanted.parent)
    except FileExistsError as error:
        raise _exists(wanted) from error
    except OSError as error:
        raise os_refusal(wanted, error) from error


def _exchange(staged: Path, file: Path) -> Path | None:
    """Keep the old store under another name, and give the new one its place."""
    try:
        _flush(staged)
        kept = _keep(file) if os.path.lexists(file) else None
        # Nobody may find the log of the old store beside the new one.
        for ending in LOG_FILES:
            _beside_name(file, ending).unlink(missing_ok=True)
        staged.replace(file)
        _flush(file.parent)
    except OSError as error:
        raise os_refusal(file, error) from error
    return kept


def _keep(file: Path) -> Path:
    # With its log written back, the old store is whole in its one file; a damaged one is kept with its log.
    with suppress(sqlite3.Error), closing(sqlite3.connect(file, isolation_level=None)) as old:
        old.execute("PRAGMA wal_checkpoint(truncate)").fetchall()
    kept = _free_name(file)
    for ending in ("", *LOG_FILES):
        part = _beside_name(file, ending)
        if part.exists() and (not ending or part.stat().st_size):
            _link_or_copy(part, _beside_name(kept, ending))
    return kept


def _free_name(file: Path) -> Path:
    number = 1
    while os.path.lexists(kept := file.with_name(f"{file.name}.replaced-{number}")):
        number += 1
    return kept


def _link_or_copy(file: Path, other: Path) -> None:
    try:
        os.link(file, other)
    except OSError:  # not every disk has links
        shutil.copy2(file, other)
        _flush(other)


def _beside_name(file: Path, ending: str) -> Path:
    return file.with_name(file.name + ending)


def _last_event(file: Path) -> int:
    """Give the highest cursor that the store to be replaced ever gave to an event, as far as it can say."""
    try:
        with closing(open_for_reading(file)) as opened:
            row = opened.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
    except (StoreError, sqlite3.Error):
        return 0
    return int(row[0]) if row else 0


def _never_give_again(db: sqlite3.Connection, cursor: int) -> None:
    """Let the events of the restored store go on after ``cursor``: readers may have seen the others."""
    db.execute("BEGIN IMMEDIATE")
    changed = db.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'event'", (cursor,))
    if not changed.rowcount and cursor:
        db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('event', ?)", (cursor,))
    db.execute("COMMIT")


def _revoke_all(db: sqlite3.Connection, at: int) -> None:
    """Revoke all tokens and standing approvals of the copy: which were revoked later, it cannot know."""
    db.execute("UPDATE token SET revoked_at = ? WHERE revoked_at IS NULL", (at,))
    db.execute("DELETE FROM approval")


@contextmanager
def _beside(wanted: Path) -> Generator[Path]:
    """Give a name for a file in the making, on the same disk as the wanted one and for nobody else to see."""
    try:
        wanted.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = Path(mkdtemp(prefix=f".{wanted.name}.", dir=wanted.parent))
    except OSError as error:
        raise os_refusal(wanted, error) from error
    staged = folder / "copy.db"
    try:
        yield staged
    finally:
        # By their names: to list a folder takes a descriptor, which there may be none of.
        for ending in ("", *LOG_FILES):
            _beside_name(staged, ending).unlink(missing_ok=True)
        folder.rmdir()


def _flush(path: Path) -> None:
    """Have the disk keep a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exists(file: Path) -> StoreExists:
    return StoreExists(file, "it exists already; name another file, or say that it may be replaced")
