"""The frozen migrations and the models tell the same story."""

from pathlib import Path

from peewee import SqliteDatabase

from showcaller.store.database import open_for_writing
from showcaller.store.models import MODELS
from showcaller.store.schema import MIGRATIONS
from tests.store.schemas import fresh_schema, schema_of


def test_all_migrations_on_an_empty_file_give_the_schema_of_the_models(path: Path) -> None:
    open_for_writing(path).close()
    assert schema_of(path) == fresh_schema()


def test_every_model_has_its_table(path: Path) -> None:
    open_for_writing(path).close()
    made = {name for kind, name in schema_of(path) if kind == "table"}
    assert made >= {model._meta.table_name for model in MODELS}


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
