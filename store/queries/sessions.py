"""Queries about sessions: one whole, a page of many, and those whose id begins so."""

import json
import sqlite3
from collections.abc import Collection
from functools import cache
from typing import Any

from peewee import SQL, Select, Tuple, fn

from showcaller.store.models import (
    Card,
    Message,
    Session,
    SessionGroup,
    Task,
    literal,
    running_turn,
    unfinished,
)
from showcaller.store.queries.background_tasks import running_tasks
from showcaller.store.queries.cards import cards_of_turn, cards_without_turn, waiting_kinds
from showcaller.store.queries.messages import shaped
from showcaller.store.queries.prefixes import prefix_end
from showcaller.store.statement import Slot, Statement

_OF_SESSION = Message.session == Slot("session")
_BY_ID = Statement(Session.select().where(Session.id == Slot("session")))
# Ordered by an expression: SQLite would read the whole conversation to spare itself the sorting.
_UNFINISHED = Statement(
    Message.select().where(_OF_SESSION, unfinished(Message.status)).order_by(Message.position + 0)
)
QUEUED = Statement(
    Message.select(fn.COUNT(Message.position)).where(
        Message.status == literal("queued"), _OF_SESSION, unfinished(Message.status)
    )
)
RUNNING = Statement(Message.select(Message.id).where(*running_turn(), _OF_SESSION))
LAST_TURN = Statement(
    Message.select(Message.id, Message.status, Message.stop_reason, Message.ended_at)
    .where(
        _OF_SESSION,
        Message.role == "user",
        Message.status.in_(["done", "failed", "stopped"]),
        Message.steered_into.is_null(),
    )
    .order_by(Message.position.desc())
    .limit(1)
)
_HEAD = Session.alias("head")
_TITLE_OF_HEAD = _HEAD.select(_HEAD.title).where(_HEAD.id == SessionGroup.head)
_GROUP = Statement(
    SessionGroup.select(fn.COALESCE(SessionGroup.name, _TITLE_OF_HEAD), SessionGroup.head).where(
        SessionGroup.id == Slot("group")
    )
)
_BY_PREFIX = Statement(
    Session.select(Session.id)
    .where(
        Session.id >= Slot("start"),
        Session.id < Slot("end"),
        Session.deleted_at.is_null() | (Session.id == Slot("start")),
    )
    .order_by(Session.id)
    .limit(Slot("limit"))
)

_CALLING = Select((fn.json_each(Slot("calling")),), (SQL("value"),))

SCOPES = ("active", "recent", "all")


def load_session(db: sqlite3.Connection, session: str) -> dict[str, Any] | None:
    """Give a session as ``list_sessions`` does, also one that was deleted; None for an unknown id.

    Under ``unfinished`` it has its queued and handed messages, oldest first: of the handed ones that which
    has no ``steered_into`` is the turn, the others joined it. ``cards`` are those of the turn, or of a
    conversation that no relay runs those that wait.
    """
    found = _BY_ID.record(db, session=session)
    if found is None:
        return None
    waiting = [shaped(message) for message in _UNFINISHED.records(db, session=session)]
    row = _with_states(db, found)
    if row["running"] is not None:
        cards = cards_of_turn(db, session, row["running"])
    else:
        cards = cards_without_turn(db, session) if row["waits_on"] else []
    return {**row, "unfinished": waiting, "cards": cards}


def find_session(db: sqlite3.Connection, prefix: str, limit: int = 20) -> list[str]:
    """Give up to ``limit`` session ids that begin with ``prefix``, with or without its ``ses_``.

    A deleted session is found by its whole id alone.
    """
    start = prefix if prefix.startswith("ses_") else f"ses_{prefix}"
    return [found for (found,) in _BY_PREFIX.rows(db, start=start, end=prefix_end(start), limit=limit)]


def list_sessions(
    db: sqlite3.Connection,
    scope: str = "recent",
    query: str | None = None,
    limit: int = 20,
    after: tuple[int, str] | list[Any] | None = None,
    calling: Collection[str] = (),
) -> dict[str, Any]:
    """Give a page of sessions, newest activity first: ``{"sessions", "next"}``.

    ``scope``: ``active`` (a message is queued or handed, a task runs, a card waits, or it is one of those
    ``calling``),
    ``recent`` (not archived), ``all`` (not deleted). ``query`` is looked for in titles, whatever the case.
    ``next`` is what the following page takes as ``after`` (None on the last one). Each session has its
    columns and ``queued`` (a number), ``running`` (the message of its turn, or None), ``tasks`` (the rows of
    those that run, oldest first), ``waits_on`` (the kinds of the cards that wait, oldest first),
    ``group_name`` and ``group_head``, and ``last_turn`` (``message``, ``status``, ``stop_reason``,
    ``ended_at``; or None).
    Raises ValueError for an unknown scope.
    """
    if scope not in SCOPES:
        raise ValueError(f"scope is one of {', '.join(SCOPES)}, not {scope!r}")
    values: dict[str, Any] = {"limit": limit + 1, "query": (query or "").casefold()}
    if calling and scope == "active":
        values["calling"] = json.dumps(sorted(calling))
    if after is not None:
        values["at"], values["id"] = after
    calls = "calling" in values
    page = listing(scope, searched=bool(query), paged=after is not None, calls=calls).records(db, **values)
    last = page[limit - 1] if len(page) > limit else None
    return {
        "sessions": [_with_states(db, session) for session in page[:limit]],
        "next": None if last is None else [last["last_activity_at"], last["id"]],
    }


@cache
def listing(scope: str, *, searched: bool, paged: bool, calls: bool = False) -> Statement:
    """Make the statement of ``list_sessions`` for a combination of its filters."""
    query = Session.select().order_by(Session.last_activity_at.desc(), Session.id.desc()).limit(Slot("limit"))
    query = query.where((Session.deleted_at if scope == "all" else Session.archived_at).is_null())
    if scope == "active":
        at_work = Message.select(Message.session).where(unfinished(Message.status))
        with_tasks = Task.select(Task.session).where(Task.status == literal("running"))
        with_cards = Card.select(Card.session).where(Card.status == literal("pending"))
        active = at_work | with_tasks | with_cards
        query = query.where(Session.id.in_(active | _CALLING if calls else active))
    if searched:
        query = query.where(fn.instr(fn.folded(Session.title.cast("BLOB")), Slot("query")) > 0)
    if paged:
        place = Tuple(Session.last_activity_at, Session.id)
        query = query.where(place < Tuple(Slot("at"), Slot("id")))
    return Statement(query)


def _with_states(db: sqlite3.Connection, session: dict[str, Any]) -> dict[str, Any]:
    queued = QUEUED.row(db, session=session["id"])
    running = RUNNING.row(db, session=session["id"])
    last_turn = LAST_TURN.row(db, session=session["id"])
    group = None if session["group"] is None else _GROUP.row(db, group=session["group"])
    name, head = group or (None, None)
    thinking = session["thinking_enabled"]
    return {
        **session,
        "may_create_sessions": bool(session["may_create_sessions"]),
        "thinking_enabled": None if thinking is None else bool(thinking),
        "tasks": running_tasks(db, session["id"]),
        "waits_on": waiting_kinds(db, session["id"]),
        "group_name": name,
        "group_head": head,
        "queued": queued[0] if queued else 0,
        "running": running[0] if running else None,
        "last_turn": (
            dict(zip(("message", "status", "stop_reason", "ended_at"), last_turn, strict=True))
            if last_turn
            else None
        ),
    }
