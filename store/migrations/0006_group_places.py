"""The order in which their owner wants the groups of sessions listed."""

from typing import Any

from peewee import Database


def up(_migrator: Any, database: Database) -> None:
    """Add the column."""
    database.execute_sql('ALTER TABLE "session_group" ADD COLUMN "place" INTEGER')
