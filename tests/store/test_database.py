"""Opening the store: what is made, what is refused, and that each refusal names the file and the way out."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from showcaller.store import errors
from showcaller.store.database import OpenDatabase, open_for_reading, open_for_writing

OPENERS = [open_for_writing, open_for_reading]
NOBODY = 65534
Opener = Callable[[Path], OpenDatabase]
HOLDS_THE_LOCK = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""
DIES_WITH_A_LOG = """
import os, signal, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA wal_autocheckpoint = 0")
db.execute("CREATE TABLE IF NOT EXISTS filling (text TEXT)")
db.execute("INSERT INTO filling VALUES (?)", ("x" * 100000,))
os.kill(os.getpid(), signal.SIGKILL)
"""


def made(path: Path) -> None:
    """Make a store with something in it."""
    database = open_for_writing(path)
    database.connection.execute("CREATE TABLE filling (text TEXT)")
    database.connection.executemany("INSERT INTO filling VALUES (?)", [("x" * 1000,)] * 200)
    database.close()


def changed(path: Path, *statements: str) -> None:
    """Change a store behind our back."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def refusal(kind: type[errors.StoreError], opener: Opener, path: Path) -> str:
    """Open, which must be refused in this way; gives the reason."""
    with pytest.raises(kind) as refused:
        opener(path)
    assert str(path) in str(refused.value)
    assert refused.value.path == path
    return refused.value.reason


def test_a_new_store_is_readable_for_its_owner_alone(path: Path) -> None:
    database = open_for_writing(path)
    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    database.close()
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert set(modes.values()) == {0o600}
    assert len(modes) == 3


def test_the_writer_commits_durably_to_a_write_ahead_log(path: Path) -> None:
    database = open_for_writing(path)
    settings = [
        database.connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "busy_timeout")
    ]
    database.close()
    assert settings == ["wal", 2, 5000]


def test_names_that_mean_something_in_an_address_are_only_names(tmp_path: Path) -> None:
    path = tmp_path / "what?mode=memory&50%25#x ü.db"
    open_for_writing(path).close()
    open_for_reading(path).close()
    assert path.stat().st_size > 0


def test_a_reader_cannot_write(path: Path) -> None:
    open_for_writing(path).close()
    database = open_for_reading(path)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        database.connection.execute("DELETE FROM session")
    database.close()


def test_a_missing_file_is_refused_to_readers(path: Path) -> None:
    assert "no such file" in refusal(errors.StoreMissing, open_for_reading, path)
    assert not path.exists()


def test_an_empty_file_is_filled_by_a_writer_and_refused_to_readers(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    assert "empty" in refusal(errors.StoreMissing, open_for_reading, path)
    open_for_writing(path).close()
    open_for_reading(path).close()


@pytest.mark.parametrize("opener", OPENERS)
def test_a_folder_in_place_of_the_file_is_refused(path: Path, opener: Opener) -> None:
    path.mkdir(parents=True)
    assert "directory" in refusal(errors.StoreUnavailable, opener, path).lower()


@pytest.mark.parametrize("opener", OPENERS)
def test_a_file_that_is_no_database_is_refused_and_kept(path: Path, opener: Opener) -> None:
    path.parent.mkdir()
    path.write_text("dear diary\n" * 50)
    assert "not an SQLite database" in refusal(errors.StoreDamaged, opener, path)
    assert path.read_text() == "dear diary\n" * 50


@pytest.mark.parametrize("opener", OPENERS)
def test_a_database_of_another_program_is_refused(path: Path, opener: Opener) -> None:
    path.parent.mkdir()
    changed(path, "CREATE TABLE recipe (name TEXT)")
    assert "another program" in refusal(errors.StoreForeign, opener, path)


@pytest.mark.parametrize("opener", OPENERS)
def test_a_newer_store_is_refused_and_names_what_it_needs(path: Path, opener: Opener) -> None:
    open_for_writing(path).close()
    changed(path, "INSERT INTO schema_migration (name, applied) VALUES ('0099_future', '2030-01-01')")
    reason = refusal(errors.StoreNewer, opener, path)
    assert "0099_future" in reason
    assert "install" in reason


def test_an_older_store_is_refused_to_readers(path: Path) -> None:
    open_for_writing(path).close()
    changed(path, "DELETE FROM schema_migration")
    assert "older" in refusal(errors.StoreOlder, open_for_reading, path)


@pytest.mark.parametrize("opener", OPENERS)
def test_a_store_that_was_cut_off_is_refused(path: Path, opener: Opener) -> None:
    made(path)
    os.truncate(path, path.stat().st_size - 8192)
    assert "8192 of its" in refusal(errors.StoreDamaged, opener, path)


@pytest.mark.parametrize("opener", OPENERS)
def test_a_store_whose_schema_is_overwritten_is_refused(path: Path, opener: Opener) -> None:
    made(path)
    with path.open("r+b") as stream:
        stream.seek(100)
        stream.write(b"\xff" * 3000)
    refusal(errors.StoreDamaged, opener, path)


def test_after_an_unclean_end_the_content_is_checked(path: Path) -> None:
    made(path)
    subprocess.run([sys.executable, "-c", DIES_WITH_A_LOG, str(path)], check=False)
    with path.open("r+b") as stream:
        stream.seek(20 * 4096)
        stream.write(b"\xa5" * 40 * 4096)
    assert "damaged" in refusal(errors.StoreDamaged, open_for_writing, path)


def test_a_sound_store_opens_after_an_unclean_end_with_all_that_was_committed(path: Path) -> None:
    made(path)
    ended = subprocess.run([sys.executable, "-c", DIES_WITH_A_LOG, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    database = open_for_writing(path)
    (rows,) = database.connection.execute("SELECT count(*) FROM filling").fetchone()
    database.close()
    assert rows == 201


def test_a_store_locked_by_another_process_is_refused_until_it_is_free(path: Path) -> None:
    open_for_writing(path).close()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS_THE_LOCK, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert "another process" in refusal(
            errors.StoreLocked, lambda file: open_for_writing(file, busy_seconds=0.05), path
        )
        open_for_reading(path).close()
        holder.communicate(b"")
    open_for_writing(path).close()


def test_a_read_only_disk_is_refused_to_writers(small_disk: Path) -> None:
    path = small_disk / "store.db"
    open_for_writing(path).close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert "Read-only" in refusal(errors.StoreReadOnly, open_for_writing, path)
    refusal(errors.StoreReadOnly, open_for_writing, small_disk / "other.db")


@pytest.fixture
def folder_of_an_ordinary_user() -> Iterator[Path]:
    """Be somebody who has no special rights, in a folder of their own."""
    folder = Path(tempfile.mkdtemp())
    superuser = os.geteuid() == 0
    if superuser:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    yield folder
    if superuser:
        os.seteuid(0)
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_a_file_without_permission_is_refused(folder_of_an_ordinary_user: Path) -> None:
    path = folder_of_an_ordinary_user / "store.db"
    path.touch(0o400)
    assert "permissions" in refusal(errors.StoreReadOnly, open_for_writing, path)
    path.chmod(0)
    assert "permissions" in refusal(errors.StoreReadOnly, open_for_reading, path)


@pytest.mark.parametrize("opener", OPENERS)
def test_a_folder_without_permission_is_refused(folder_of_an_ordinary_user: Path, opener: Opener) -> None:
    folder_of_an_ordinary_user.chmod(0)
    assert "permissions" in refusal(errors.StoreReadOnly, opener, folder_of_an_ordinary_user / "store.db")


def test_a_full_disk_refuses_a_new_store(small_disk: Path) -> None:
    filling = small_disk / "filling"
    with filling.open("wb") as stream, pytest.raises(OSError, match="No space"):
        stream.write(b"x" * 4 * 1024 * 1024)
    refusal(errors.StoreFull, open_for_writing, small_disk / "store.db")
    filling.unlink()
    open_for_writing(small_disk / "store.db").close()


def test_each_writer_that_opens_takes_over_from_those_before(path: Path) -> None:
    first = open_for_writing(path)
    second = open_for_writing(path)
    assert second.epoch == first.epoch + 1
    first.close()
    second.close()
