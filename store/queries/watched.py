"""How sessions that somebody watches from outside are: what runs and waits in each, and its last turn."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from peewee import fn

from showcaller.store.models import Message, Session, Task, literal, running_turn, unfinished
from showcaller.store.queries.cards import waiting_kinds
from showcaller.store.queries.event_log import newest_cursor
from showcaller.store.queries.sessions import LAST_TURN, QUEUED, RUNNING
from showcaller.store.statement import Slot, Statement

_WATCHED = (
    Session.id,
    Session.title,
    Session.archived_at,
    Session.deleted_at,
)
_BY_ID = Statement(Session.select(*_WATCHED).where(Session.id == Slot("session")))
_AT_WORK = Message.select(Message.session).where(unfinished(Message.status)) | Task.select(
    Task.session
).where(Task.status == literal("running"))
_ALL_AT_WORK = Statement(
    Session.select(*_WATCHED)
    .where(Session.id.in_(_AT_WORK), Session.archived_at.is_null())
    .order_by(Session.id)
    .limit(Slot("limit"))
)
_TURNS_RUNNING = Statement(
    Message.select(Message.session, fn.COALESCE(Message.handed_at, Message.created_at)).where(*running_turn())
)
_TASKS_RUNNING = Statement(
    Task.select(Task.session, Task.started_at).where(Task.status == literal("running"))
)
_TASKS = Statement(
    Task.select(fn.COUNT(Task.id)).where(Task.session == Slot("session"), Task.status == literal("running"))
)


def watched_sessions(
    db: sqlite3.Connection, sessions: Sequence[str] | None, limit: int = 1000
) -> dict[str, Any]:
    """Give how sessions are after the newest event: ``{"cursor", "sessions"}``.

    ``sessions`` are ids, None for all in which a message waits or a turn or task runs (``limit`` of them at
    most, and one more when there are more). Each has ``id``, ``title``, ``archived_at``, ``deleted_at``,
    ``running`` (the message of its turn), ``queued`` and ``tasks`` (numbers), ``waits_on`` (the kinds of the
    cards that wait, oldest first), and ``last_turn`` (``message``, ``status``, ``stop_reason``,
    ``ended_at``, or None). An id of no session is left out.
    """
    if sessions is None:
        rows = _ALL_AT_WORK.records(db, limit=limit + 1)
    else:
        rows = [row for each in sessions if (row := _BY_ID.record(db, session=each)) is not None]
    return {"cursor": newest_cursor(db), "sessions": [_with_work(db, row) for row in rows]}


def at_work(
    db: sqlite3.Connection, sessions: Sequence[str] | None, but: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Give the sessions in which a turn or a task runs, those first that have worked longest.

    Of ``sessions`` (None: of all) but of none of those in ``but``; each is ``{"id", "title", "since"}``.
    """
    since: dict[str, int] = {}
    for statement in (_TURNS_RUNNING, _TASKS_RUNNING):
        for session, begun in statement.rows(db):
            since[session] = min(begun, since.get(session, begun))
    wanted = since.keys() - set(but) if sessions is None else since.keys() & set(sessions) - set(but)
    found = [
        {"id": session, "title": row["title"], "since": since[session]}
        for session in wanted
        if (row := _BY_ID.record(db, session=session)) is not None
    ]
    return sorted(found, key=lambda each: (each["since"], each["id"]))


def _with_work(db: sqlite3.Connection, session: dict[str, Any]) -> dict[str, Any]:
    running = RUNNING.row(db, session=session["id"])
    queued = QUEUED.row(db, session=session["id"])
    tasks = _TASKS.row(db, session=session["id"])
    last = LAST_TURN.record(db, session=session["id"])
    if last is not None:
        last["message"] = last.pop("id")
    return {
        **session,
        "running": running[0] if running else None,
        "queued": queued[0] if queued else 0,
        "tasks": tasks[0] if tasks else 0,
        "waits_on": waiting_kinds(db, session["id"]),
        "last_turn": last,
    }
