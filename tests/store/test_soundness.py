"""Values that were never written: told as damage of the store, found by a check, and no harm to others."""

import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from showcaller.store.backup import back_up, restore
from showcaller.store.errors import StoreDamaged
from showcaller.store.integrity import full_check, quick_check
from showcaller.store.models import MODELS
from showcaller.store.readers import InlineReader
from showcaller.store.soundness import RowShape
from tests.store.commands.test_subscriptions import wanted
from tests.store.desk import PATIENCE, Desk, ending

STRANGE = [
    ("session", "title", b"\xff"),
    ("session", "last_activity_at", 2**62),
    ("session", "last_activity_at", "weird"),
    ("session", "message_count", 1.5),
    ("session", "may_create_sessions", 7),
    ("message", "text", b"\xff"),
    ("message", "status", "weird"),
    ("message", "stop_reason", "weird"),
    ("message", "error_class", 3),
    ("message", "exit_code", 2**40),
    ("message", "seconds", -1),
    ("message", "via", "{bad"),
    ("message", "via", "1"),
    ("message", "via", '{"a": 1}'),
    ("message", "via", '{"title": 1}'),
    ("message", "created_at", b"\xff"),
]
NO_UTF8 = "CAST(X'72FFFE' AS TEXT)"


def spoil(path: Path, table: str, column: str, value: object) -> None:
    """Put a value where none like it is ever written."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE id LIKE \'%bad%\'', (value,))
        connection.commit()


def garble(path: Path, table: str, column: str) -> None:
    """Put text that is no UTF-8 where text is, as a damaged disk does."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f'UPDATE "{table}" SET "{column}" = {NO_UTF8} WHERE id LIKE \'%bad%\'')
        connection.commit()


def asked(path: Path, name: str, **arguments: Any) -> tuple[Any, Exception | None]:
    """Ask a new reader one thing."""
    given: SimpleQueue[tuple[Any, Exception | None]] = SimpleQueue()
    with closing(InlineReader(path)) as reader:
        reader.read(name, arguments, lambda value, error: given.put((value, error)))
    return given.get(timeout=PATIENCE)


@pytest.fixture
def two(desk: Desk) -> Desk:
    """Have a session that will be damaged, and one that will not, each with a prompt and its reply."""
    for name in ("good", "bad"):
        desk.handed(name, name)
        desk.value("end_turn", **ending(name))
    assert full_check(desk.path) == []
    return desk


@pytest.mark.parametrize(("table", "column", "value"), STRANGE)
def test_a_strange_value_is_damage_for_whoever_reads_the_row_and_both_checks_find_it(
    two: Desk, table: str, column: str, value: object
) -> None:
    spoil(two.path, table, column, value)
    query, key = ("load_session", "ses_") if table == "session" else ("message", "msg_")
    value, error = asked(two.path, query, **{table: f"{key}bad"})
    assert isinstance(error, StoreDamaged)
    assert f"{table}: {column}" in str(error)
    assert asked(two.path, query, **{table: f"{key}good"})[1] is None
    for check in (quick_check, full_check):
        assert any(f"{table}: {column} (row" in found for found in check(two.path))


@pytest.mark.parametrize(
    "result", ["0", "null", "[]", "{bad", '{"a": 1}', '{"requested": 1}', '{"cancelled": null}']
)
def test_what_a_repeated_write_would_get_is_checked_too(two: Desk, result: str) -> None:
    call = {"client_id": "bad", "fingerprint": "f", "result": {"requested": True, "waiting": 0}}
    two.value("remember_call", call=call, at=9_000)
    assert full_check(two.path) == []
    with closing(sqlite3.connect(two.path)) as connection:
        connection.execute("UPDATE client_id SET result = ?", (result,))
        connection.commit()
    _value, error = asked(two.path, "client_call", caller=None, client_id="bad")
    assert isinstance(error, StoreDamaged)
    answer = two.one("remember_call", call=call, at=9_500)
    assert answer.error == "storage"
    for check in (quick_check, full_check):
        assert any("client_id: result (row" in found for found in check(two.path))


def test_a_setting_that_is_no_json_is_damage_that_names_it(two: Desk) -> None:
    two.value("set_setting", name="log_days", value=3)
    with closing(sqlite3.connect(two.path)) as connection:
        connection.execute("UPDATE setting SET value = '{'")
        connection.commit()
    _value, error = asked(two.path, "settings")
    assert isinstance(error, StoreDamaged)
    assert "setting: log_days is no JSON" in str(error)
    assert "backup" in str(error)


def test_a_copy_with_strange_values_is_not_restored(two: Desk, tmp_path: Path) -> None:
    garble(two.path, "message", "text")
    copy = back_up(two.path, tmp_path / "copy.db")
    with pytest.raises(StoreDamaged, match="not sound"):
        restore(copy, tmp_path / "new" / "store.db", at=7_000, alone=nullcontext)


@pytest.mark.parametrize(("table", "column"), [("session", "title"), ("message", "text")])
def test_text_that_is_no_utf8_is_damage_too(two: Desk, table: str, column: str) -> None:
    garble(two.path, table, column)
    query, key = ("load_session", "ses_") if table == "session" else ("message", "msg_")
    assert isinstance(asked(two.path, query, **{table: f"{key}bad"})[1], StoreDamaged)
    assert asked(two.path, query, **{table: f"{key}good"})[1] is None
    for check in (quick_check, full_check):
        assert any(f"{table}: {column} (row" in found for found in check(two.path))


def test_a_damaged_folder_is_left_out_of_those_worked_in(two: Desk) -> None:
    with closing(sqlite3.connect(two.path)) as connection:
        connection.execute("UPDATE session SET cwd = '/srv' WHERE id = 'ses_good'")
        connection.commit()
    spoil(two.path, "session", "cwd", b"\xff")
    assert asked(two.path, "recent_folders") == (["/srv"], None)


@pytest.mark.parametrize("query", [None, "session"])
def test_a_list_shows_damaged_rows_beside_the_others(two: Desk, query: str | None) -> None:
    garble(two.path, "session", "title")
    spoil(two.path, "session", "created_at", "weird")
    page, error = asked(two.path, "list_sessions", query=query)
    assert error is None
    titles = {row["id"]: row["title"] for row in page["sessions"]}
    assert titles["ses_good"] == "Session good"
    assert query or titles["ses_bad"] == "r\ufffd\ufffd"
    garble(two.path, "message", "text")
    assert asked(two.path, "last_words", session="ses_bad")[0]["text"] == "r\ufffd\ufffd"
    assert len(asked(two.path, "read_messages", session="ses_bad")[0]["messages"]) == 2


def test_a_command_that_meets_a_damaged_row_is_refused_and_the_others_of_its_batch_are_not(two: Desk) -> None:
    spoil(two.path, "session", "held_at", b"\xff")
    holds = [("hold_queue", {"session": f"ses_{name}", "at": 9_000}) for name in ("bad", "good")]
    bad, good = two.run(*holds)
    assert (bad.error, good.error) == ("storage", None)
    assert str(two.path) in (bad.detail or "")


def test_every_column_says_what_it_may_hold() -> None:
    for model in MODELS:
        for field in model._meta.sorted_fields:
            assert not RowShape([field]).fits((object(),)), f"{model.__name__}.{field.name}"


@pytest.mark.parametrize(
    ("table", "column", "spoiled"),
    [
        ("subscription", "events", '"turn_end"'),
        ("subscription", "matches", "[1]"),
        ("watcher", "wakeups", "[true]"),
        ("watcher", "wakeups", "{}"),
    ],
)
def test_what_a_watcher_keeps_as_text_is_checked_too(
    two: Desk, table: str, column: str, spoiled: str
) -> None:
    given = {"events": '["turn_end"]', "matches": '["x"]'}
    watches = {"subscription": wanted("a", "good", **given), "sessions": ["ses_bad"], "limit": 1, "at": 1}
    two.value("subscribe", **watches)
    pace = {"wakeups": "[1]", "window_ends_at": None, "digest_at": None}
    two.value("advance_watcher", watcher="ses_good", pace=pace, at=2)
    assert full_check(two.path) == []
    with closing(sqlite3.connect(two.path)) as connection:
        connection.execute(f"UPDATE {table} SET {column} = ?", (spoiled,))
        connection.commit()
    _value, error = asked(two.path, "watching", watcher="ses_good")
    assert isinstance(error, StoreDamaged)
    assert any(f"{table}: {column} (row" in found for found in full_check(two.path))
