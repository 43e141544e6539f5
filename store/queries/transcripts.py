"""Queries about a whole conversation, from its beginning on and a piece at a time."""

import sqlite3
from typing import Any

from showcaller.store.models import Message
from showcaller.store.queries.messages import activity_of, shaped
from showcaller.store.statement import Slot, Statement

_FROM = Statement(
    Message.select()
    .where(Message.session == Slot("session"), Message.position > Slot("after"))
    .order_by(Message.position)
    .limit(Slot("limit"))
)


def transcript(db: sqlite3.Connection, session: str, after: int = 0, limit: int = 16) -> list[dict[str, Any]]:
    """Give up to ``limit`` messages of a session that were accepted after a position, oldest first.

    Each has ``activity`` as ``read_messages`` gives it.
    """
    rows = _FROM.records(db, session=session, after=after, limit=limit)
    return [{**shaped(row), "activity": activity_of(db, row["id"])} for row in rows]
