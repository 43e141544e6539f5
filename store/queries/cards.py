"""Queries about cards: those that wait for an answer, and what became of one."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from peewee import JOIN, Tuple, fn

from showcaller.store.models import Card, Session, literal
from showcaller.store.statement import Slot, Statement

_PENDING = Card.status == literal("pending")
_OF_SESSION = Card.session == Slot("session")
_BY_ID = Statement(Card.select().where(Card.id == Slot("card")))
_OF_TURN = Statement(
    Card.select().where(_OF_SESSION, Card.message == Slot("message")).order_by(Card.created_at, Card.id)
)
_WAITING = Statement(Card.select().where(_PENDING, _OF_SESSION).order_by(Card.created_at, Card.id))
_KINDS = Statement(Card.select(Card.kind).where(_PENDING, _OF_SESSION).order_by(Card.created_at, Card.id))
_SHOWN = (
    Card.select(Card, fn.COALESCE(Session.title, "").alias("title"))
    .join(Session, JOIN.LEFT_OUTER, on=(Session.id == Card.session))
    .where(_PENDING)
    .order_by(Card.created_at.desc(), Card.id.desc())
    .limit(Slot("limit"))
)
_FIRST_PAGE = Statement(_SHOWN)
_PAGE = Statement(_SHOWN.where(Tuple(Card.created_at, Card.id) < Tuple(Slot("at"), Slot("id"))))


def card(db: sqlite3.Connection, card: str) -> dict[str, Any] | None:
    """Give a card, whatever became of it; None for an unknown id.

    Here and below ``options`` is a list of ``{"id", "label", "kind"}``, and ``form`` and ``answer`` are
    objects or None; ``call`` is a list of the calls that an approval card is bound to, with ``client_id``,
    ``fingerprint`` and ``detail``, and ``grants`` what its *Allow* grants.
    """
    found = _BY_ID.record(db, card=card)
    return None if found is None else _shaped(found)


def pending_cards(db: sqlite3.Connection, session: str) -> list[dict[str, Any]]:
    """Give the cards that wait for an answer in a session, oldest first."""
    return [_shaped(found) for found in _WAITING.records(db, session=session)]


def inbox(
    db: sqlite3.Connection, limit: int = 100, after: tuple[int, str] | Sequence[Any] | None = None
) -> dict[str, Any]:
    """Give a page of all cards that wait for an answer, newest first: ``{"cards", "next"}``.

    Each has the ``title`` of its session; ``next`` is what the following page takes as ``after``, None on
    the last.
    """
    if after is None:
        found = _FIRST_PAGE.records(db, limit=limit + 1)
    else:
        found = _PAGE.records(db, limit=limit + 1, at=after[0], id=after[1])
    last = found[limit - 1] if len(found) > limit else None
    return {
        "cards": [_shaped(each) for each in found[:limit]],
        "next": None if last is None else [last["created_at"], last["id"]],
    }


def cards_of_turn(db: sqlite3.Connection, session: str, message: str) -> list[dict[str, Any]]:
    """Give what a turn has asked so far, with what became of it, oldest first; for other queries."""
    return [_shaped(found) for found in _OF_TURN.records(db, session=session, message=message)]


def cards_without_turn(db: sqlite3.Connection, session: str) -> list[dict[str, Any]]:
    """Give what waits in a conversation that no relay runs, oldest first; for other queries."""
    return [_shaped(found) for found in _WAITING.records(db, session=session) if found["message"] is None]


def waiting_kinds(db: sqlite3.Connection, session: str) -> list[str]:
    """Give the kinds of the cards that wait in a session, oldest first; for other queries."""
    return [kind for (kind,) in _KINDS.rows(db, session=session)]


def _shaped(row: dict[str, Any]) -> dict[str, Any]:
    options, form, answer = (row[name] for name in ("options", "form", "answer"))
    call, grants = row["call"], row["grants"]
    return {
        **row,
        "call": [] if call is None else json.loads(call),
        "grants": None if grants is None else json.loads(grants),
        "multi_select": bool(row["multi_select"]),
        "allow_freeform": bool(row["allow_freeform"]),
        "options": [] if options is None else json.loads(options),
        "form": None if form is None else json.loads(form),
        "answer": None if answer is None else json.loads(answer),
    }
