"""Queries about the relay as a whole: what is left to do, and how much there is."""

import sqlite3
from typing import Any

from peewee import JOIN, fn

from showcaller.store.models import Event, Fanout, Message, Outbox, Relay, Session, Task, literal
from showcaller.store.models import unfinished as is_unfinished
from showcaller.store.statement import Statement

_UNFINISHED = Statement(
    Outbox.select(Outbox.id, Outbox.kind, Outbox.key, Outbox.session, Outbox.created_at, Message.fanout)
    .join(Message, JOIN.LEFT_OUTER, on=(Message.id == Outbox.key))
    .order_by(Outbox.id)
)
_HANDED = Statement(
    Message.select(Message.id, Message.session, Message.worker, Message.fanout)
    .where(Message.status == literal("handed"), is_unfinished(Message.status), Message.steered_into.is_null())
    .order_by(Message.position + 0)
)
_RELAY = Statement(Relay.select())
_COUNTS = {
    "sessions": Statement(Session.select(fn.COUNT(Session.id))),
    "messages": Statement(Message.select(fn.COUNT(Message.position))),
    "queued": Statement(
        Message.select(fn.COUNT(Message.position)).where(
            Message.status == literal("queued"), is_unfinished(Message.status)
        )
    ),
    "handed": Statement(
        Message.select(fn.COUNT(Message.position)).where(
            Message.status == literal("handed"), is_unfinished(Message.status)
        )
    ),
    "tasks": Statement(Task.select(fn.COUNT(Task.id)).where(Task.status == literal("running"))),
    "events": Statement(Event.select(fn.COUNT(Event.cursor))),
    "outbox": Statement(Outbox.select(fn.COUNT(Outbox.id))),
    "fanouts": Statement(Fanout.select(fn.COUNT(Fanout.group))),
}


def unfinished(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Give the outbox in order: ``id``, ``kind``, ``key`` (a message), ``session``, ``created_at``.

    ``fanout`` is the group of the fan-out whose attempt the message is, None for any other message.
    """
    return _UNFINISHED.records(db)


def handed(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Give the messages whose turns are with workers, in order: id, session, worker and fan-out."""
    return _HANDED.records(db)


def counts(db: sqlite3.Connection) -> dict[str, int]:
    """Give how many rows of each kind there are, messages queued and handed, and tasks that run."""
    return {name: (statement.row(db) or (0,))[0] for name, statement in _COUNTS.items()}


def relay(db: sqlite3.Connection) -> dict[str, Any] | None:
    """Give the relay's own row; None before its first start."""
    return _RELAY.record(db)
