"""Cards by their workers' names, with what is said beside the question, and found by their session."""

from typing import Any

from peewee import Database

STATEMENTS = (
    'ALTER TABLE "card" ADD COLUMN "worker_card" TEXT',
    'ALTER TABLE "card" ADD COLUMN "detail" TEXT',
    'CREATE UNIQUE INDEX "card_session_worker_card" ON "card" ("session", "worker_card")',
    'DROP INDEX "card_pending"',
    'CREATE INDEX "card_pending" ON "card" ("session", "created_at") WHERE ("status" = \'pending\')',
)


def up(_migrator: Any, database: Database) -> None:
    """Add the columns, and change the indexes."""
    for statement in STATEMENTS:
        database.execute_sql(statement)
