"""Held queues, steering, background tasks, settings, and one place for what callers name their writes."""

from typing import Any

from peewee import SQL, CompositeKey, Database, IntegerField, Model, TextField

COLUMNS = (
    ("relay", '"pruned_cursor" INTEGER NOT NULL DEFAULT 0'),
    ("session", '"held_at" INTEGER'),
    ("session", '"deleted_at" INTEGER'),
    ("session", '"may_create_sessions" INTEGER NOT NULL DEFAULT 0'),
    ("session", '"agent_session_id" TEXT'),
    ("session", '"repo" TEXT'),
    ("session", '"branch" TEXT'),
    ("session", '"auto_compact_window" INTEGER'),
    ("session", '"thinking_enabled" INTEGER'),
    ("session", '"thinking_display" TEXT'),
    ("message", '"steered_into" TEXT'),
    ("message", '"steer_taken" INTEGER NOT NULL DEFAULT 0'),
    ("message", '"model" TEXT'),
    ("message", '"mode" TEXT'),
    ("message", '"effort" TEXT'),
    ("message", '"via" TEXT'),
    ("event", '"task" TEXT'),
)

CARRY_CLIENT_IDS = """
INSERT INTO client_id (caller, client_id, fingerprint, message, session, created_at)
SELECT COALESCE(caller, ''), client_id, fingerprint, id, session, created_at
FROM message WHERE client_id IS NOT NULL
"""

STATEMENTS = (
    CARRY_CLIENT_IDS,
    "DROP INDEX message_client_id",
    'ALTER TABLE message DROP COLUMN "client_id"',
    'ALTER TABLE message DROP COLUMN "fingerprint"',
    *(f'ALTER TABLE "{table}" ADD COLUMN {column}' for table, column in COLUMNS),
    'CREATE INDEX "message_joined" ON "message" ("steered_into") WHERE ("steered_into" IS NOT NULL)',
    "DROP INDEX session_group_members",
    'CREATE INDEX "session_group_members" ON "session" ("group", "last_activity_at")'
    ' WHERE ("group" IS NOT NULL)',
)


def tables() -> list[type[Model]]:
    """Give the new tables as models of their own, which later changes do not touch."""

    class Base(Model):
        class Meta:
            legacy_table_names = False

    class Setting(Base):
        name = TextField(primary_key=True)
        value = TextField()

    class ClientId(Base):
        caller = TextField()
        client_id = TextField()
        fingerprint = TextField(null=True)
        message = TextField(null=True)
        session = TextField(null=True)
        result = TextField(null=True)
        created_at = IntegerField()

        class Meta:
            primary_key = CompositeKey("caller", "client_id")

    class Task(Base):
        id = TextField(primary_key=True)
        session = TextField()
        worker_task = TextField()
        message = TextField(null=True)
        type = TextField()
        description = TextField()
        status = TextField()
        exit_code = IntegerField(null=True)
        started_at = IntegerField()
        ended_at = IntegerField(null=True)
        tail = TextField(null=True)

        class Meta:
            indexes = ((("session", "worker_task"), True),)

    Task.add_index(Task.index(Task.session, where=Task.status == SQL("'running'"), name="task_running"))
    Task.add_index(Task.index(Task.ended_at, where=Task.tail.is_null(False), name="task_tails"))
    return [Setting, ClientId, Task]


def up(_migrator: Any, database: Database) -> None:
    """Add the tables and columns, and move the client ids out of the messages."""
    models = tables()
    database.bind(models)
    database.create_tables(models)
    for statement in STATEMENTS:
        database.execute_sql(statement)
