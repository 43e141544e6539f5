"""Copies: made beside a writer, whole or not at all, and put back only when sound and nobody is at work."""

import os
import re
import sqlite3
from collections.abc import Generator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from threading import Event, Thread

import pytest

from showcaller.store import errors
from showcaller.store.backup import back_up, restore
from showcaller.store.database import open_for_writing
from showcaller.store.integrity import full_check
from showcaller.store.writer import InlineWriter
from tests.store.desk import Desk, message_of, session_of
from tests.store.schemas import fresh_schema, schema_of


def titles(path: Path) -> list[str]:
    """List the titles in a store."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return [title for (title,) in connection.execute("SELECT title FROM session ORDER BY id")]


def names(folder: Path) -> list[str]:
    """List the files in a folder."""
    return sorted(file.name for file in folder.iterdir())


def reopened(path: Path) -> Desk:
    """Open a desk at a store once more."""
    return Desk(path, InlineWriter(path), incarnation="again")


@pytest.fixture
def copy(desk: Desk, tmp_path: Path) -> Path:
    """Have a store with one session, and a copy of it."""
    desk.session("kept", "m")
    return back_up(desk.path, tmp_path / "copies" / "monday.db")


def test_a_copy_is_one_file_for_its_owner_alone(desk: Desk, copy: Path) -> None:
    assert names(copy.parent) == ["monday.db"]
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert titles(copy) == ["Session kept"]
    assert full_check(copy) == []


def test_one_missing_folder_is_made_and_a_place_further_off_is_refused(desk: Desk, tmp_path: Path) -> None:
    """A folder for the copies is convenient; a whole path that is not there is mistyped, or not mounted."""
    nope = tmp_path / "nope"
    with pytest.raises(errors.StoreUnavailable, match=f"there is no folder {nope}; make it first"):
        back_up(desk.path, nope / "copies" / "monday.db")
    assert not nope.exists()


def test_a_copy_is_made_beside_a_busy_writer_and_is_of_one_moment(desk: Desk, tmp_path: Path) -> None:
    done = Event()

    def work() -> None:
        number = 0
        while not done.is_set():
            number += 1
            first = {"session": session_of(f"{number}a"), "message": message_of(str(number))}
            second = {"session": session_of(f"{number}b"), "message": None}
            desk.run(("create_session", first), ("create_session", second))

    worker = Thread(target=work)
    worker.start()
    try:
        copies = [back_up(desk.path, tmp_path / f"{number}.db") for number in range(5)]
    finally:
        done.set()
        worker.join()
    for copy in copies:
        assert full_check(copy) == []
        assert len(titles(copy)) % 2 == 0


def test_an_existing_file_is_replaced_only_when_told(desk: Desk, copy: Path) -> None:
    desk.session("more")
    with pytest.raises(errors.StoreExists, match=r"monday\.db: it exists already"):
        back_up(desk.path, copy)
    assert titles(copy) == ["Session kept"]
    back_up(desk.path, copy, replace=True)
    assert titles(copy) == ["Session kept", "Session more"]


@pytest.mark.parametrize("replace", [False, True])
def test_a_store_is_no_copy_of_itself(desk: Desk, replace: bool) -> None:
    with pytest.raises(errors.StoreExists):
        back_up(desk.path, desk.path, replace=replace)
    with pytest.raises(errors.StoreExists):
        restore(desk.path, desk.path, at=7_000, alone=nullcontext)


def test_a_full_disk_leaves_no_half_copy(desk: Desk, small_disk: Path) -> None:
    large = [message_of(str(n), session="ses_a", text="x" * 90_000) for n in range(40)]
    desk.session("a")
    desk.run(*[("accept_message", {"message": message}) for message in large])
    with pytest.raises(errors.StoreFull) as refused:
        back_up(desk.path, small_disk / "copy.db")
    assert refused.value.path == small_disk / "copy.db"
    assert names(small_disk) == []


def test_a_copy_that_cannot_be_made_names_its_file(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(errors.StoreUnavailable) as refused:
        back_up(desk.path, tmp_path / "file" / "copy.db")
    assert refused.value.path == tmp_path / "file" / "copy.db"


def test_a_restored_store_is_as_it_was_and_the_other_is_kept(desk: Desk, copy: Path) -> None:
    desk.session("later")
    desk.close()
    kept = restore(copy, desk.path, at=7_000, alone=nullcontext)
    assert kept == (replaced := desk.path.with_name("store.db.replaced-1"))
    assert titles(replaced) == ["Session kept", "Session later"]
    again = reopened(desk.path)
    assert [row["key"] for row in again.read("unfinished")] == ["msg_m"]
    again.session("new")
    again.close()
    assert titles(desk.path) == ["Session kept", "Session new"]
    assert desk.path.stat().st_mode & 0o777 == 0o600
    assert titles(copy) == ["Session kept"]
    assert restore(copy, desk.path, at=7_000, alone=nullcontext) == desk.path.with_name("store.db.replaced-2")


def test_nothing_stands_allowed_once_a_copy_is_restored(desk: Desk, tmp_path: Path) -> None:
    """It may have been revoked since the copy was made."""
    desk.session("a", "m")
    with closing(sqlite3.connect(desk.path)) as connection, connection:
        connection.execute(
            "INSERT INTO approval (conversation, kind, relay, created_at) VALUES ('ses_a', 'create', '', 5)"
        )
    copy = back_up(desk.path, tmp_path / "copies" / "tuesday.db")
    desk.close()
    restore(copy, desk.path, at=7_000, alone=nullcontext)
    with closing(sqlite3.connect(desk.path)) as connection:
        assert connection.execute("SELECT * FROM approval").fetchall() == []


def test_no_token_of_a_copy_lets_anybody_in_once_it_is_restored(desk: Desk, tmp_path: Path) -> None:
    """It may have been revoked since the copy was made."""
    desk.session("a", "m")
    row = ("digest", "external", "script", "ses_a", 5)
    with closing(sqlite3.connect(desk.path)) as connection, connection:
        connection.execute(
            "INSERT INTO token (hash, kind, name, session, created_at) VALUES (?, ?, ?, ?, ?)", row
        )
    copy = back_up(desk.path, tmp_path / "copies" / "tuesday.db")
    desk.close()
    restore(copy, desk.path, at=7_000, alone=nullcontext)
    with closing(sqlite3.connect(desk.path)) as connection:
        assert connection.execute("SELECT hash, revoked_at FROM token").fetchall() == [("digest", 7_000)], (
            "the time of the restore"
        )


def test_a_store_is_restored_where_none_is(copy: Path, tmp_path: Path) -> None:
    path = tmp_path / "elsewhere" / "store.db"
    assert restore(copy, path, at=7_000, alone=nullcontext) is None
    assert names(path.parent) == ["store.db"]
    assert titles(path) == ["Session kept"]


def test_nothing_is_touched_while_a_relay_runs(desk: Desk, copy: Path) -> None:
    def held() -> AbstractContextManager[None]:
        raise BlockingIOError("a relay runs here")

    desk.session("later")
    with pytest.raises(BlockingIOError):
        restore(copy, desk.path, at=7_000, alone=held)
    assert titles(desk.path) == ["Session kept", "Session later"]
    assert not list(desk.path.parent.glob("*replaced*"))


def test_the_store_is_held_until_it_is_replaced(desk: Desk, copy: Path) -> None:
    seen: list[bool] = []

    @contextmanager
    def alone() -> Generator[None]:
        yield
        seen.append(desk.path.with_name("store.db.replaced-1").exists())

    desk.close()
    restore(copy, desk.path, at=7_000, alone=alone)
    assert seen == [True]


def test_what_a_killed_writer_left_in_its_log_is_kept_and_not_mixed_in(desk: Desk, copy: Path) -> None:
    desk.session("in_the_log")
    left = desk.path.with_name("store.db-wal").read_bytes()
    whole = desk.path.read_bytes()
    desk.close()
    desk.path.write_bytes(whole)
    desk.path.with_name("store.db-wal").write_bytes(left)
    kept = restore(copy, desk.path, at=7_000, alone=nullcontext)
    assert kept is not None
    assert titles(kept) == ["Session in_the_log", "Session kept"]
    assert titles(desk.path) == ["Session kept"]


def test_a_damaged_store_is_replaced_and_kept_as_it_is(desk: Desk, copy: Path) -> None:
    desk.close()
    desk.path.write_bytes(b"no database" * 1_000)
    kept = restore(copy, desk.path, at=7_000, alone=nullcontext)
    assert kept is not None
    assert kept.read_bytes() == b"no database" * 1_000
    assert titles(desk.path) == ["Session kept"]


def spoiled(copy: Path) -> None:
    """Overwrite the middle of a file."""
    with copy.open("r+b") as stream:
        stream.seek(copy.stat().st_size // 4096 // 2 * 4096)
        stream.write(b"\xa5" * 8 * 4096)


def changed(copy: Path, statement: str) -> None:
    """Change a copy behind our back."""
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize(
    ("spoil", "kind", "reason"),
    [
        (spoiled, errors.StoreDamaged, "damaged|not sound"),
        (lambda copy: copy.write_text("dear diary\n" * 50), errors.StoreDamaged, "not an SQLite"),
        (lambda copy: os.truncate(copy, 3 * 4096), errors.StoreDamaged, "missing|damaged"),
        (lambda copy: os.truncate(copy, 0), errors.StoreMissing, "empty"),
        (lambda copy: copy.unlink(), errors.StoreMissing, "no such file"),
        (lambda copy: changed(copy, "PRAGMA application_id = 7"), errors.StoreForeign, "another program"),
        (
            lambda copy: changed(copy, "INSERT INTO schema_migration VALUES (99, '0099_future', '2030')"),
            errors.StoreNewer,
            "0099_future",
        ),
        (lambda copy: changed(copy, "DELETE FROM outbox"), errors.StoreDamaged, "nothing would start"),
    ],
)
def test_a_copy_that_is_not_sound_is_refused_and_named(
    desk: Desk, copy: Path, spoil: object, kind: type[errors.StoreError], reason: str
) -> None:
    desk.session("later")
    desk.close()
    assert callable(spoil)
    spoil(copy)
    with pytest.raises(kind, match=reason) as refused:
        restore(copy, desk.path, at=7_000, alone=nullcontext)
    assert refused.value.path == copy
    assert titles(desk.path) == ["Session kept", "Session later"]
    left = set(names(desk.path.parent)) - {"store.db-wal", "store.db-shm"}
    assert left == {"store.db"}


SHUTS_NOBODY_OUT = """CREATE TRIGGER "stays" AFTER UPDATE OF revoked_at ON token
BEGIN UPDATE token SET revoked_at = NULL WHERE hash = new.hash; END"""
STRANGE = {
    "the trigger 'stays' of 'token'": SHUTS_NOBODY_OUT,
    "the view 'seen'": "CREATE VIEW seen AS SELECT text FROM message",
    "the table 'notes'": "CREATE TABLE notes (text)",
    "the index 'quick' of 'message'": "CREATE INDEX quick ON message (text)",
    "the table 'sqlite_stat1'": "ANALYZE",
    "the table 'setting' is not as": "ALTER TABLE setting ADD COLUMN more",
    "the index 'message_joined' of 'message' is not as": """PRAGMA writable_schema = on;
UPDATE sqlite_master SET sql = replace(sql, 'IS NOT NULL', 'IS NULL') WHERE name = 'message_joined'""",
    "there is no index 'message_joined' of 'message'": "DROP INDEX message_joined",
}


@pytest.mark.parametrize("named", STRANGE)
def test_a_copy_with_what_no_version_makes_is_refused_and_that_is_named(
    desk: Desk, copy: Path, named: str
) -> None:
    """A trigger would run with whatever the relay writes."""
    desk.close()
    with closing(sqlite3.connect(copy)) as connection:
        connection.executescript(STRANGE[named])
        connection.commit()
    with pytest.raises(errors.StoreDamaged, match=re.escape(named)) as refused:
        restore(copy, desk.path, at=7_000, alone=nullcontext)
    assert refused.value.path == copy
    assert re.search("name another copy|restore a backup", refused.value.reason)
    assert titles(desk.path) == ["Session kept"]


@pytest.mark.parametrize(
    "strange", ["CREATE VIEW seen AS SELECT 1", SHUTS_NOBODY_OUT.replace("token", "message")]
)
def test_so_is_one_of_an_earlier_version_before_it_is_converted(tmp_path: Path, strange: str) -> None:
    old = tmp_path / "old.db"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript((Path(__file__).parent / "schema_0001.sql").read_text(encoding="utf-8"))
        connection.execute(strange)
    with pytest.raises(errors.StoreDamaged, match="which Showcaller never makes"):
        restore(old, tmp_path / "new" / "store.db", at=7_000, alone=nullcontext)


def test_a_copy_of_an_earlier_version_is_converted(desk: Desk, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript((Path(__file__).parent / "schema_0001.sql").read_text(encoding="utf-8"))
    before = old.read_bytes()
    desk.close()
    restore(old, desk.path, at=7_000, alone=nullcontext)
    assert schema_of(desk.path) == fresh_schema()
    assert old.read_bytes() == before


def test_a_store_that_a_copy_was_put_into_gives_no_event_number_again(desk: Desk, copy: Path) -> None:
    for name in "abc":
        desk.session(name)
        desk.value("archive_session", session=f"ses_{name}", at=5_000)
    desk.close()
    restore(copy, desk.path, at=7_000, alone=nullcontext)
    again = reopened(desk.path)
    again.value("hand_over", message="msg_m", worker="wrk_1", at=6_000)
    assert [event["cursor"] for event in again.read("events")["events"]] == [4]
    again.close()


def test_a_live_store_can_be_restored_from_too(desk: Desk, copy: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "store.db"
    open_for_writing(other).close()
    desk.session("later")
    restore(desk.path, other, at=7_000, alone=nullcontext)
    assert titles(other) == ["Session kept", "Session later"]


def test_without_links_the_old_store_is_kept_as_a_copy(
    desk: Desk, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_arguments: object) -> None:
        raise PermissionError("this disk has no links")

    desk.close()
    whole = desk.path.read_bytes()
    monkeypatch.setattr(os, "link", refused)
    kept = restore(copy, desk.path, at=7_000, alone=nullcontext)
    assert kept is not None
    assert kept.read_bytes() == whole
    assert titles(desk.path) == ["Session kept"]
