"""What agents did in their turns beside their texts."""

from typing import Any

from peewee import Database

STATEMENTS = (
    'CREATE TABLE "activity" ("message" TEXT NOT NULL PRIMARY KEY, "session" TEXT NOT NULL,'
    ' "lines" TEXT NOT NULL)',
    'CREATE INDEX "activity_session" ON "activity" ("session")',
)


def up(_migrator: Any, database: Database) -> None:
    """Add the table."""
    for statement in STATEMENTS:
        database.execute_sql(statement)
