"""A store of the first schema, written by that version, becomes one of today and loses nothing."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from peewee import SqliteDatabase

from showcaller.store.database import open_for_reading, open_for_writing
from showcaller.store.errors import StoreOlder
from showcaller.store.writer import InlineWriter
from tests.store.desk import Desk, message_of
from tests.store.schemas import fresh_schema, schema_of

FIRST = Path(__file__).parent / "schema_0001.sql"


@pytest.fixture
def old(path: Path) -> Path:
    """Make the file of the first version again from its dump."""
    path.parent.mkdir(mode=0o700)
    connection = sqlite3.connect(path)
    connection.executescript(FIRST.read_text(encoding="utf-8"))
    connection.close()
    return path


@pytest.fixture
def carried(old: Path) -> Iterator[Desk]:
    """Open a desk at the old file."""
    desk = Desk(old, InlineWriter(old), incarnation="today")
    yield desk
    desk.close()


def test_a_reader_refuses_the_old_file_and_a_writer_converts_it(old: Path) -> None:
    with pytest.raises(StoreOlder):
        open_for_reading(old)
    open_for_writing(old).close()
    open_for_reading(old).close()
    assert schema_of(old) == fresh_schema()


def test_every_row_is_still_there(old: Path) -> None:
    tables = ("relay", "session_group", "session", "message", "event", "outbox", "fanout", "fanout_item")

    def content() -> dict[str, list[dict[str, object]]]:
        connection = sqlite3.connect(old)
        connection.row_factory = sqlite3.Row
        rows = {table: list(map(dict, connection.execute(f"SELECT * FROM {table}"))) for table in tables}
        connection.close()
        return rows

    before = content()
    open_for_writing(old).close()
    after = content()
    moved = {"client_id", "fingerprint"}
    for table in tables:
        assert len(after[table]) == len(before[table])
        for was, now in zip(before[table], after[table], strict=True):
            kept = {name: value for name, value in was.items() if name not in moved}
            assert now.items() >= kept.items()
            assert all(not value for name, value in now.items() if name not in was)


def test_a_repeat_of_an_old_write_is_still_known(carried: Desk) -> None:
    repeat = message_of("again", session="ses_a", client_id="one", fingerprint="f1")
    known = {"duplicate": "msg_done", "session": "ses_a"}
    assert carried.value("accept_message", message=repeat) == known
    assert carried.conflict("accept_message", message={**repeat, "fingerprint": "f2"}) == "client_id"
    of_agent = {**repeat, "caller": "ses_x", "fingerprint": "f2"}
    assert carried.value("accept_message", message=of_agent)["duplicate"] == "msg_running"


def test_old_turns_and_queues_go_on(carried: Desk) -> None:
    session = carried.read("load_session", session="ses_a")
    assert (session["running"], session["queued"], session["held_at"]) == ("msg_running", 1, None)
    assert session["may_create_sessions"] is False
    interrupted = carried.value("interrupt_turns", at=9_000)
    assert interrupted == [{"message": "msg_running", "session": "ses_a"}]
    handed = carried.value("hand_over", message="msg_queued", worker="wrk_1", at=9_500)
    assert carried.read("message", message="msg_done")["reply"]["text"] == "done is done"
    assert handed["event"] == 6  # cursors 1 to 4 were given by the old version


def test_a_conversion_that_is_cut_off_leaves_the_old_file(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema_of(old)
    execute: Callable[..., Any] = SqliteDatabase.execute_sql

    def cut_off(database: SqliteDatabase, sql: str, *arguments: Any) -> Any:
        if 'CREATE INDEX "session_group_members"' in sql:
            raise RuntimeError("the machine went off")
        return execute(database, sql, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(SqliteDatabase, "execute_sql", cut_off)
        with pytest.raises(RuntimeError, match="went off"):
            open_for_writing(old)
    assert schema_of(old) == before
    open_for_writing(old).close()
    assert schema_of(old) == fresh_schema()
