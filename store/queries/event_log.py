"""Queries about the event log."""

import sqlite3
from typing import Any

from peewee import JOIN, Table, fn

from showcaller.store.models import Event, Message, Relay, Session
from showcaller.store.soundness import read_json
from showcaller.store.statement import Slot, Statement

_PAGE = Statement(
    Event.select().where(Event.cursor > Slot("since")).order_by(Event.cursor).limit(Slot("limit"))
)
_PRUNED = Statement(Relay.select(Relay.pruned_cursor))
_SEQUENCE = Table("sqlite_sequence")
_NEWEST = Statement(_SEQUENCE.select(_SEQUENCE.c.seq).where(_SEQUENCE.c.name == Event._meta.table_name))
# The joined tables by expressions: of what is deleted or damaged there, an event still tells its own part.
_TOLD = Statement(
    Event.select(
        Event.cursor,
        Event.session,
        Event.kind,
        Event.at,
        Event.message,
        Event.text,
        Event.task,
        Event.detail,
        fn.COALESCE(Session.title, "").alias("title"),
        fn.NULLIF(Message.status, "").alias("status"),
        Message.stop_reason,
        Message.handed_at,
    )
    .join(Session, JOIN.LEFT_OUTER, on=(Session.id == Event.session))
    .switch(Event)
    .join(Message, JOIN.LEFT_OUTER, on=(Message.id == Event.message))
    .where(Event.cursor > Slot("since"))
    .order_by(Event.cursor)
    .limit(Slot("limit"))
)


def events(db: sqlite3.Connection, since: int = 0, limit: int = 1000) -> dict[str, Any]:
    """Give up to ``limit`` events after the cursor ``since``, in order: ``{"events", "next", "gap"}``.

    ``next`` is what the following page takes as ``since``. ``gap`` is None unless events after ``since``
    were deleted: then it is the first cursor from which on the log is whole.
    """
    return _page(db, _PAGE, since, limit)


def told_events(db: sqlite3.Connection, since: int = 0, limit: int = 1000) -> dict[str, Any]:
    """Give a page as ``events`` does, with what is known beside each event.

    That is its session's ``title``, and its message's ``status``, ``stop_reason`` and ``handed_at``; its
    ``detail`` is a mapping, empty without one. The page has ``newest`` besides, the highest cursor that an
    event ever had.
    """
    page = _page(db, _TOLD, since, limit)
    for row in page["events"]:
        row["detail"] = _detail(row)
    return {**page, "newest": newest_cursor(db)}


def _detail(row: dict[str, Any]) -> dict[str, Any]:
    if row["detail"] is None:
        return {}
    read: dict[str, Any] = read_json(row["detail"], f"event {row['cursor']}: detail")
    return read


def newest_cursor(db: sqlite3.Connection) -> int:
    """Give the highest cursor that an event ever had, 0 before the first; for other queries."""
    row = _NEWEST.row(db)
    return int(row[0]) if row else 0


def _pruned(db: sqlite3.Connection) -> int:
    row = _PRUNED.row(db)
    return int(row[0]) if row else 0


def _page(db: sqlite3.Connection, statement: Statement, since: int, limit: int) -> dict[str, Any]:
    page = statement.records(db, since=since, limit=limit)
    pruned = _pruned(db)
    following = page[-1]["cursor"] if page else max(since, pruned)
    return {"events": page, "next": following, "gap": pruned + 1 if since < pruned else None}
