"""SQL is generated once, and its values are given by name."""

import sqlite3
from collections.abc import Iterator

import pytest
from peewee import SchemaManager, SqliteDatabase

from showcaller.store.models import MODELS, SessionGroup
from showcaller.store.statement import Slot, Statement, insertion

INSERT = insertion(SessionGroup)
ROW = {
    "id": "grp_a",
    "name": "'; DROP TABLE session_group; --",
    "origin": "owner",
    "head": None,
    "created_at": 1,
    "place": None,
}


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    """Make an empty store in memory."""
    database = SqliteDatabase(":memory:")
    for model in MODELS:
        SchemaManager(model, database=database).create_all()
    connection: sqlite3.Connection = database.connection()
    yield connection
    database.close()


def test_values_are_bound_and_never_written_into_the_text(db: sqlite3.Connection) -> None:
    INSERT.run(db, **ROW)
    assert "DROP" not in INSERT.sql
    assert Statement(SessionGroup.select()).record(db) == ROW


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError, match="head"):
        INSERT.bind({name: value for name, value in ROW.items() if name != "head"})


def test_names_and_fixed_values_come_in_the_order_of_the_text(db: sqlite3.Connection) -> None:
    statement = Statement(
        SessionGroup.select(SessionGroup.id).where(
            SessionGroup.created_at > Slot("after"),
            SessionGroup.origin == "owner",
            SessionGroup.name != Slot("not"),
        )
    )
    assert statement.bind({"not": "x", "after": 5}) == [5, "owner", "x"]
    INSERT.run_many(db, [{**ROW, "id": f"grp_{at}", "created_at": at} for at in (4, 6)])
    assert statement.rows(db, **{"after": 5, "not": "x"}) == [("grp_6",)]
    assert statement.row(db, **{"after": 9, "not": "x"}) is None
    assert statement.record(db, **{"after": 9, "not": "x"}) is None
