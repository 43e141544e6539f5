"""Errors name the file and the way out, and a mistake of ours is not taken for trouble with the disk."""

import sqlite3
from pathlib import Path

import peewee
import pytest

from showcaller.store import errors

PATH = Path("/data/store.db")


def raised(code: int) -> sqlite3.OperationalError:
    """Make an error as SQLite gives it with a result code."""
    error = sqlite3.OperationalError("what SQLite says")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_BUSY, errors.StoreLocked),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, errors.StoreLocked),
        (sqlite3.SQLITE_READONLY, errors.StoreReadOnly),
        (sqlite3.SQLITE_READONLY_DBMOVED, errors.StoreReadOnly),
        (sqlite3.SQLITE_FULL, errors.StoreFull),
        (sqlite3.SQLITE_CORRUPT, errors.StoreDamaged),
        (sqlite3.SQLITE_NOTADB, errors.StoreDamaged),
        (sqlite3.SQLITE_IOERR_FSYNC, errors.StoreUnavailable),
        (sqlite3.SQLITE_CANTOPEN, errors.StoreUnavailable),
    ],
)
def test_each_trouble_with_the_file_has_its_name_and_a_way_out(
    code: int, kind: type[errors.StoreError]
) -> None:
    found = errors.storage_error(raised(code), PATH)
    assert found is not None
    assert type(found) is kind
    assert str(found).startswith(f"{PATH}: ")
    assert "what SQLite says" in str(found)
    assert ";" in found.reason


@pytest.mark.parametrize(
    "code", [sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_TOOBIG]
)
def test_a_mistake_in_a_statement_is_no_trouble_with_the_file(code: int) -> None:
    assert errors.storage_error(raised(code), PATH) is None


def test_an_error_without_a_code_is_no_trouble_with_the_file() -> None:
    assert errors.storage_error(ValueError("what"), PATH) is None
    assert errors.storage_error(sqlite3.ProgrammingError("closed"), PATH) is None


def test_trouble_is_found_behind_the_exceptions_of_peewee(tmp_path: Path) -> None:
    database = peewee.SqliteDatabase(str(tmp_path))
    with pytest.raises(peewee.OperationalError) as failed:
        database.connect()
    assert isinstance(errors.storage_error(failed.value, PATH), errors.StoreUnavailable)


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and kind.__mro__[1] is errors.StoreError
    ],
)
def test_an_error_arrives_from_the_writer_process_as_it_was(kind: type[errors.StoreError]) -> None:
    again = errors.rebuilt_error(kind.__name__, str(PATH), "it is so; do this")
    assert type(again) is kind
    assert (again.path, again.reason) == (PATH, "it is so; do this")


def test_trouble_is_found_behind_a_clean_up_that_failed_on_top_of_it(tmp_path: Path) -> None:
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    no_transaction = sqlite3.OperationalError("cannot rollback - no transaction is active")
    no_transaction.sqlite_errorcode = sqlite3.SQLITE_ERROR
    no_transaction.__context__ = full
    assert isinstance(errors.storage_error(no_transaction, tmp_path), errors.StoreFull)
