"""Queries about what the owner has allowed for good, and which conversations wait for an approval."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from peewee import JOIN, Tuple, fn

from showcaller.store.models import Approval, Card, Session, literal
from showcaller.store.statement import Slot, Statement

_HERE = Approval.relay == literal("")
_KINDS = Statement(
    Approval.select(Approval.kind)
    .where(Approval.conversation == Slot("conversation"), _HERE)
    .order_by(Approval.kind)
)
_LISTED = (
    Approval.select(
        Approval.conversation,
        Approval.kind,
        Approval.created_at,
        fn.COALESCE(Session.title, "").alias("title"),
    )
    .join(Session, JOIN.LEFT_OUTER, on=(Session.id == Approval.conversation))
    .where(_HERE)
    .order_by(Approval.conversation, Approval.kind)
    .limit(Slot("limit"))
)
_FIRST_PAGE = Statement(_LISTED)
_PAGE = Statement(
    _LISTED.where(Tuple(Approval.conversation, Approval.kind) > Tuple(Slot("conversation"), Slot("kind")))
)
_WAITING = Statement(
    Card.select(Card.session)
    .where(Card.status == literal("pending"), Card.kind == literal("approval"), Card.message.is_null())
    .distinct()
    .order_by(Card.session)
)


def standing_approvals(db: sqlite3.Connection, conversation: str) -> list[str]:
    """Give the kinds of what was allowed for good in a conversation, on this relay."""
    return [kind for (kind,) in _KINDS.rows(db, conversation=conversation)]


def approvals(
    db: sqlite3.Connection, limit: int = 100, after: tuple[str, str] | Sequence[Any] | None = None
) -> dict[str, Any]:
    """Give a page of all that stands allowed on this relay: ``{"approvals", "next"}``, by conversation.

    Each has ``conversation``, its ``title``, ``kind`` and ``created_at``; ``next`` is what the following page
    takes as ``after``, None on the last.
    """
    if after is None:
        found = _FIRST_PAGE.records(db, limit=limit + 1)
    else:
        found = _PAGE.records(db, limit=limit + 1, conversation=after[0], kind=after[1])
    last = found[limit - 1] if len(found) > limit else None
    return {
        "approvals": found[:limit],
        "next": None if last is None else [last["conversation"], last["kind"]],
    }


def approvals_without_turn(db: sqlite3.Connection) -> list[str]:
    """Give the conversations that no relay runs and in which a call waits for an approval."""
    return [session for (session,) in _WAITING.rows(db)]
