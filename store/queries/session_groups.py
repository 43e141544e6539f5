"""Queries about groups of sessions."""

import sqlite3
from typing import Any

from peewee import SQL, fn

from showcaller.store.models import (
    Card,
    Message,
    Session,
    SessionGroup,
    Task,
    group_stands,
    has_members,
    literal,
    running_turn,
)
from showcaller.store.queries.prefixes import prefix_end
from showcaller.store.statement import Slot, Statement

_GROUP = (SessionGroup.id, SessionGroup.name, SessionGroup.created_at)
_MEMBERS = Session.group == SessionGroup.id
_LAST_ACTIVITY = Session.select(fn.MAX(Session.last_activity_at)).where(_MEMBERS)
_COUNT = Session.select(fn.COUNT(SQL("1"))).where(_MEMBERS)
_SOMEBODY = has_members()
_STANDS = group_stands()
_BY_ID = Statement(
    SessionGroup.select(*_GROUP)
    .where(SessionGroup.id >= Slot("start"), SessionGroup.id < Slot("end"), _STANDS)
    .order_by(SessionGroup.id)
    .limit(Slot("limit"))
)
_BY_WHOLE_ID = Statement(SessionGroup.select(*_GROUP).where(SessionGroup.id == Slot("id"), _STANDS))
_BY_NAME = Statement(
    SessionGroup.select(*_GROUP)
    .where(SessionGroup.name == Slot("name"), _STANDS)
    .order_by(SessionGroup.created_at.desc())
    .limit(Slot("limit"))
)
_HEAD = Session.alias("head")
_TITLE_OF_HEAD = _HEAD.select(_HEAD.title).where(_HEAD.id == SessionGroup.head)
_SHOWN_NAME = fn.COALESCE(SessionGroup.name, _TITLE_OF_HEAD)
_BY_SHOWN_NAME = Statement(
    SessionGroup.select(SessionGroup.id, _SHOWN_NAME.alias("name"), SessionGroup.created_at)
    .where(fn.folded(fn.COALESCE(_SHOWN_NAME, "").cast("BLOB")) == Slot("name"), _STANDS)
    .order_by(SessionGroup.created_at.desc())
    .limit(Slot("limit"))
)
_NEWEST = Statement(
    SessionGroup.select(
        SessionGroup.id,
        _SHOWN_NAME.alias("name"),
        _COUNT.alias("member_count"),
        _LAST_ACTIVITY.alias("last_activity_at"),
    )
    .where(_SOMEBODY)
    .order_by(SQL("last_activity_at DESC"), SessionGroup.id)
    .limit(Slot("limit"))
)
_TOTAL = Statement(SessionGroup.select(fn.COUNT(SessionGroup.id)).where(_SOMEBODY))
_LISTED = Statement(
    SessionGroup.select(
        SessionGroup.id,
        _SHOWN_NAME.alias("name"),
        SessionGroup.origin,
        SessionGroup.head,
        SessionGroup.created_at,
        _COUNT.alias("member_count"),
        _LAST_ACTIVITY.alias("last_activity_at"),
    )
    .where(_STANDS)
    .order_by(
        SessionGroup.place.is_null(),
        SessionGroup.place,
        fn.COALESCE(SQL("last_activity_at"), SessionGroup.created_at).desc(),
        SessionGroup.id,
    )
    .limit(Slot("limit"))
)
_ALL_THERE = Statement(SessionGroup.select(fn.COUNT(SessionGroup.id)).where(_STANDS))
_IN_GROUP = Session.group == Slot("group")
_AT_WORK = Statement(
    Message.select(fn.COUNT(Message.id)).where(
        *running_turn(), Message.session.in_(Session.select(Session.id).where(_IN_GROUP))
    )
)
_WAITING = Statement(
    Card.select(fn.COUNT(Card.id)).where(
        Card.status == literal("pending"), Card.session.in_(Session.select(Session.id).where(_IN_GROUP))
    )
)
_TURN = fn.EXISTS(Message.select(SQL("1")).where(*running_turn(), Message.session == Session.id))
_TASK = fn.EXISTS(Task.select(SQL("1")).where(Task.status == literal("running"), Task.session == Session.id))
_OTHERS = Statement(
    Session.select(
        Session.id,
        Session.title,
        Session.archived_at,
        _TURN.alias("has_turn"),
        _TASK.alias("has_tasks"),
    )
    .where(Session.group == Slot("group"), Session.id != Slot("but"))
    .order_by(Session.last_activity_at.desc())
    .limit(Slot("limit"))
)


def find_group(
    db: sqlite3.Connection, name: str, start: str | None = None, limit: int = 20
) -> list[dict[str, Any]]:
    """Give the group of this whole id; without it those of exactly this name, newest first.

    Without any of either, those that show the name, whatever the case, and then, when ``start`` is given,
    those whose id begins with that. Each is ``{"id", "name", "created_at"}``. A group that an agent made is
    there only as long as it has sessions. Nobody can have a group taken for another by naming it so.
    """
    own = _BY_WHOLE_ID.records(db, id=name)
    if own:
        return own
    named = _BY_NAME.records(db, name=name, limit=limit)
    named = named or _BY_SHOWN_NAME.records(db, name=name.casefold(), limit=limit)
    if named:
        return named
    if start is None:
        return []
    return _BY_ID.records(db, start=start, end=prefix_end(start), limit=limit)


def groups(db: sqlite3.Connection, limit: int = 50) -> dict[str, Any]:
    """Give the groups that have sessions, newest activity first: ``{"groups", "total"}``.

    Each is ``{"id", "name", "member_count", "last_activity_at"}``; the name is the title of its head when
    nobody gave one (None without either). ``total`` counts those beyond ``limit`` too. Deleted sessions are
    in no group.
    """
    row = _TOTAL.row(db)
    return {"groups": _NEWEST.records(db, limit=limit), "total": row[0] if row else 0}


def groups_listed(db: sqlite3.Connection, limit: int = 100) -> dict[str, Any]:
    """Give the groups as their owner has them, the empty ones too: ``{"groups", "total"}``.

    First those that have a place, by it, then by their newest activity. Each has ``id``, ``name``,
    ``origin``, ``head``, ``created_at``, ``member_count``, ``last_activity_at`` (None when it is empty),
    ``at_work`` (how many turns run in it) and ``waiting`` (how many cards wait).
    """
    row = _ALL_THERE.row(db)
    listed = [
        {**found, "at_work": _number(db, _AT_WORK, found), "waiting": _number(db, _WAITING, found)}
        for found in _LISTED.records(db, limit=limit)
    ]
    return {"groups": listed, "total": row[0] if row else 0}


def _number(db: sqlite3.Connection, counted: Statement, group: dict[str, Any]) -> int:
    row = counted.row(db, group=group["id"])
    return int(row[0]) if row else 0


def group_members(
    db: sqlite3.Connection, group: str, but: str | None = None, limit: int = 50
) -> list[dict[str, Any]]:
    """Give up to ``limit`` sessions of a group, all ``but`` one, newest activity first.

    Each is ``{"id", "title", "archived_at", "has_turn", "has_tasks"}``.
    """
    rows = _OTHERS.records(db, group=group, but=but or "", limit=limit)
    return [{**row, "has_turn": bool(row["has_turn"]), "has_tasks": bool(row["has_tasks"])} for row in rows]
