"""Queries about background tasks."""

import sqlite3
from typing import Any

from showcaller.store.models import Message, Task, literal
from showcaller.store.statement import Slot, Statement

_OF_SESSION = Task.session == Slot("session")
_RUNNING = Statement(
    Task.select().where(Task.status == literal("running"), _OF_SESSION).order_by(Task.started_at, Task.id)
)
_ALL = Statement(Task.select().where(_OF_SESSION).order_by(Task.started_at, Task.id))
_AT_WORKERS = Statement(
    Task.select(Task.id, Task.session, Task.worker_task, Message.worker)
    .join(Message, on=Task.message == Message.id)
    .where(Task.status == literal("running"))
    .order_by(Task.started_at, Task.id)
)
_BY_ID = Statement(Task.select().where(Task.id == Slot("task"), _OF_SESSION))


def tasks(db: sqlite3.Connection, session: str) -> list[dict[str, Any]]:
    """Give the rows of a session's tasks, also of those that ended, in the order in which they began."""
    return _ALL.records(db, session=session)


def task(db: sqlite3.Connection, session: str, task: str) -> dict[str, Any] | None:
    """Give the row of one task of a session; None when it has no such task."""
    return _BY_ID.record(db, session=session, task=task)


def tasks_at_workers(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Give ``id``, ``session``, ``worker_task`` and ``worker`` of every task that runs, oldest first.

    The worker is that of the turn in which it began; one that began in none is left out.
    """
    return _AT_WORKERS.records(db)


def running_tasks(db: sqlite3.Connection, session: str) -> list[dict[str, Any]]:
    """Give the rows of the session's tasks that run, in the order in which they began."""
    return _RUNNING.records(db, session=session)
