"""The tables and indexes of a file, and those that the models ask for."""

import sqlite3
from contextlib import closing
from pathlib import Path

from peewee import SchemaManager, SqliteDatabase

from showcaller.store.models import MODELS

Schema = dict[tuple[str, str], str | None]

_ALL = "SELECT type, name, tbl_name, sql FROM sqlite_master"


def schema_of(path: Path) -> Schema:
    """Read every table and index with the SQL that made it, but for the migrations' own history."""
    with closing(sqlite3.connect(path)) as connection:
        return _without_history(connection.execute(_ALL).fetchall())


def fresh_schema() -> Schema:
    """Make every table and index of the models in a database of its own."""
    database = SqliteDatabase(":memory:")
    for model in MODELS:
        SchemaManager(model, database=database).create_all()
    try:
        return _without_history(database.execute_sql(_ALL).fetchall())
    finally:
        database.close()


def _without_history(rows: list[tuple[str, str, str, str | None]]) -> Schema:
    return {(kind, name): sql for kind, name, table, sql in rows if table != "schema_migration"}
