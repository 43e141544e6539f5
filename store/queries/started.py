"""Queries about what one conversation's agent has started."""

import sqlite3

from showcaller.store.models import Message, Session, unfinished
from showcaller.store.statement import Slot, Statement

_AT_WORK = Statement(
    Message.select(Message.session)
    .join(Session, on=(Session.id == Message.session))
    .where(unfinished(Message.status), Session.created_by == Slot("caller"))
    .distinct()
    .order_by(Message.session)
)


def started_at_work(db: sqlite3.Connection, caller: str) -> list[str]:
    """Give the sessions that ``caller`` (a session) has started and that have a message queued or handed."""
    return [session for (session,) in _AT_WORK.rows(db, caller=caller)]
