"""Queries about tokens: whom one lets in, and all that there are, without their hashes."""

import sqlite3
from typing import Any

from peewee import JOIN

from showcaller.store.models import Message, Session, Task, Token, literal, running_turn, unfinished
from showcaller.store.statement import Slot, Statement

_BY_HASH = Statement(
    Token.select(Token.kind, Token.name, Token.session, Token.expires_at, Token.revoked_at).where(
        Token.hash == Slot("hash")
    )
)
_ALL = Statement(
    Token.select(
        Token.kind,
        Token.name,
        Token.session,
        Token.created_at,
        Token.used_at,
        Token.revoked_at,
        Session.id.alias("kept"),
        Session.archived_at,
        Session.deleted_at,
    )
    .join(Session, JOIN.LEFT_OUTER, on=(Session.id == Token.session))
    .order_by(Token.created_at.desc(), Token.kind, Token.name)
)
_TURN = Statement(
    Message.select(Message.position).where(
        Message.id == Slot("turn"),
        Message.session == Slot("session"),
        Message.status == literal("handed"),
        unfinished(Message.status),
    )
)
_TASK = Statement(
    Task.select(Task.id)
    .where(Task.session == Slot("session"), Task.message == Slot("turn"), Task.status == literal("running"))
    .limit(1)
)

_UNDER_WAY = Statement(Message.select(Message.id).where(*running_turn(), Message.session == Slot("session")))


def token(db: sqlite3.Connection, hash: str) -> dict[str, Any] | None:  # noqa: A002 - the column's name
    """Give ``kind``, ``name``, ``session``, ``expires_at`` and ``revoked_at`` of a token; None if unknown."""
    return _BY_HASH.record(db, hash=hash)


def tokens(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Give all tokens, newest first, without their hashes; the last revoked one of a name among them.

    ``state`` is ``in_force``, ``revoked``, or what became of the conversation that it speaks for:
    ``archived`` or ``deleted``, with which it lets nobody in any more.
    """
    return [_with_state(row) for row in _ALL.records(db)]


def _with_state(row: dict[str, Any]) -> dict[str, Any]:
    kept, archived_at, deleted_at = (row.pop(name) for name in ("kept", "archived_at", "deleted_at"))
    if row["revoked_at"] is not None:
        state = "revoked"
    elif row["session"] is None:
        state = "in_force"
    elif kept is None or deleted_at is not None:
        state = "deleted"
    else:
        state = "in_force" if archived_at is None else "archived"
    return {**row, "state": state}


def turn_under_way(db: sqlite3.Connection, session: str) -> str | None:
    """Give the turn of a session that is with a worker; None without one."""
    row = _UNDER_WAY.row(db, session=session)
    turn: str | None = None if row is None else row[0]
    return turn


def turn_goes_on(db: sqlite3.Connection, session: str, turn: str) -> bool:
    """Tell whether a turn of this session is with a worker, or a background task that it began runs."""
    found = _TURN.row(db, session=session, turn=turn) or _TASK.row(db, session=session, turn=turn)
    return found is not None
