"""Queries about tokens: who holds one, by its hash; and all that there are, without the hashes."""

import sqlite3
from typing import Any

from showcaller.store.models import Token
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
    ).order_by(Token.created_at.desc(), Token.kind, Token.name)
)


def token(db: sqlite3.Connection, hash: str) -> dict[str, Any] | None:  # noqa: A002 - the column's name
    """Give ``kind``, ``name``, ``session``, ``expires_at`` and ``revoked_at`` of a token; None if unknown."""
    return _BY_HASH.record(db, hash=hash)


def tokens(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Give all tokens, newest first, without their hashes; the last revoked one of a name among them."""
    return _ALL.records(db)
