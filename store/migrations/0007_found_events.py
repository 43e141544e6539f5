"""What an event says besides, that the relay has found itself for one subscription."""

from typing import Any

from peewee import Database


def up(_migrator: Any, database: Database) -> None:
    """Add the column."""
    database.execute_sql('ALTER TABLE "event" ADD COLUMN "detail" TEXT')
