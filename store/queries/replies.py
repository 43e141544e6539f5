"""Queries about what a session's agent has answered, one reply after the other."""

import sqlite3
from typing import Any

from showcaller.store.models import Message, literal
from showcaller.store.statement import Slot, Statement

_OF_AGENT = Message.select(Message.position, Message.reply_to, Message.text, Message.truncated).where(
    Message.session == Slot("session"), Message.role == literal("agent")
)
_AFTER = Statement(
    _OF_AGENT.where(Message.position > Slot("position")).order_by(Message.position).limit(Slot("limit"))
)
_NEWEST = Statement(
    _OF_AGENT.where(Message.position < Slot("position"))
    .order_by(Message.position.desc())
    .limit(Slot("limit"))
)
_LAST_PLACE = 2**63 - 1


def replies_after(db: sqlite3.Connection, session: str, position: int, limit: int) -> list[dict[str, Any]]:
    """Give up to ``limit`` replies of a session after a position, oldest first.

    Each has ``position``, ``reply_to`` (the turn's message), ``text`` and ``truncated`` (0 or 1).
    """
    return _AFTER.records(db, session=session, position=position, limit=limit)


def last_replies(
    db: sqlite3.Connection, session: str, limit: int, position: int | None = None
) -> list[dict[str, Any]]:
    """Give up to ``limit`` of the newest replies of a session (before a position), newest first."""
    before = _LAST_PLACE if position is None else position
    return _NEWEST.records(db, session=session, position=before, limit=limit)
