"""The frozen migrations and the models tell the same story."""

from pathlib import Path

from peewee import SchemaManager, SqliteDatabase

from showcaller.store.database import MIGRATIONS, open_for_writing
from showcaller.store.models import MODELS

Schema = dict[tuple[str, str], str | None]


def schema(database: SqliteDatabase) -> Schema:
    """Read every table and index with the SQL that made it, but for the runner's own history."""
    rows = database.execute_sql("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    return {(kind, name): sql for kind, name, table, sql in rows if table != "schema_migration"}


def test_all_migrations_on_an_empty_file_give_the_schema_of_the_models(path: Path) -> None:
    open_for_writing(path).close()
    migrated = SqliteDatabase(str(path))
    fresh = SqliteDatabase(":memory:")
    for model in MODELS:
        SchemaManager(model, database=fresh).create_all()
    try:
        assert schema(migrated) == schema(fresh)
    finally:
        migrated.close()
        fresh.close()


def test_every_model_has_its_table(path: Path) -> None:
    open_for_writing(path).close()
    database = SqliteDatabase(str(path))
    try:
        made = {name for kind, name in schema(database) if kind == "table"}
    finally:
        database.close()
    assert made >= {
        "relay",
        "session_group",
        "session",
        "message",
        "event",
        "outbox",
        "fanout",
        "fanout_item",
        "writer_batch",
    }


def test_migrations_are_numbered_without_gaps() -> None:
    numbers = sorted(int(file.name[:4]) for file in MIGRATIONS.glob("[0-9]*.py"))
    assert numbers == list(range(1, len(numbers) + 1))


def test_opening_again_applies_nothing_again(path: Path) -> None:
    open_for_writing(path).close()
    database = SqliteDatabase(str(path))
    applied = database.execute_sql("SELECT name, applied FROM schema_migration").fetchall()
    database.close()
    open_for_writing(path).close()
    assert database.execute_sql("SELECT name, applied FROM schema_migration").fetchall() == applied
    database.close()
