"""Commands that make sessions, take prompts for them, and put them away."""

import sqlite3
from typing import Any, NotRequired, TypedDict

from showcaller.store.commands.queue import (
    QUEUE_LIMIT,
    NewMessage,
    append_event,
    delete_outbox,
    duplicate_of,
    enqueue,
    refuse_full_queue,
    touch_session,
)
from showcaller.store.conflict import Conflict
from showcaller.store.models import Message, Session, SessionGroup, literal, unfinished
from showcaller.store.statement import Slot, Statement, insertion


class NewSession(TypedDict):
    """A session as its starter's side gives it; ``created_by`` is the session of the agent that starts it."""

    id: str
    title: str
    provider: str
    mode: str
    origin: str
    created_at: int
    model: NotRequired[str | None]
    effort: NotRequired[str | None]
    cwd: NotRequired[str | None]
    group: NotRequired[str | None]
    created_by: NotRequired[str | None]


_BLANK: dict[str, Any] = {"model": None, "effort": None, "cwd": None, "group": None, "created_by": None}
_GIVEN = frozenset(NewSession.__annotations__)

_INSERT_SESSION = insertion(Session)
_FIND_GROUP = Statement(SessionGroup.select(SessionGroup.id).where(SessionGroup.id == Slot("group")))
_ARCHIVED_AT = Statement(Session.select(Session.archived_at).where(Session.id == Slot("session")))
_SET_ARCHIVED = Statement(
    Session.update(archived_at=Slot("at"), last_activity_at=Slot("at")).where(Session.id == Slot("session"))
)
_HANDED = Statement(
    Message.select(Message.id).where(
        Message.status == literal("handed"), Message.session == Slot("session"), unfinished(Message.status)
    )
)
_CANCEL_QUEUED = Statement(
    Message.update(status="cancelled", ended_at=Slot("at"))
    .where(
        Message.status == literal("queued"), Message.session == Slot("session"), unfinished(Message.status)
    )
    .returning(Message.id)
)


def create_session(db: sqlite3.Connection, session: NewSession, message: NewMessage | None) -> dict[str, Any]:
    """Make a session, with its first prompt queued if there is one.

    Gives ``{"position"}`` of the message (None without one), or ``{"duplicate", "session"}`` of the first
    when the same caller sent the same client id before. Raises Conflict ``group`` (no such group) or
    ``client_id`` (that id was used for something else).
    """
    foreign = session.keys() - _GIVEN
    if foreign:
        raise TypeError(f"a new session does not take: {', '.join(sorted(foreign))}")
    first = duplicate_of(db, message, None) if message is not None else None
    if first is not None:
        return first
    group = session.get("group")
    if group is not None and _FIND_GROUP.row(db, group=group) is None:
        raise Conflict("group", f"there is no group {group}")
    _INSERT_SESSION.run(
        db,
        **{
            **_BLANK,
            **session,
            "last_activity_at": session["created_at"],
            "archived_at": None,
            "message_count": 0 if message is None else 1,
        },
    )
    return {"position": None if message is None else enqueue(db, message, session["id"])}


def accept_message(
    db: sqlite3.Connection, message: NewMessage, queue_limit: int = QUEUE_LIMIT
) -> dict[str, Any]:
    """Queue a prompt for an existing session.

    Gives ``{"position"}``, or ``{"duplicate", "session"}`` of the first as ``create_session`` does. Raises
    Conflict ``missing`` or ``archived`` (the session), ``queue`` (``queue_limit`` messages wait already) or
    ``client_id``.
    """
    session = message.get("session")
    if session is None:
        raise TypeError("a message for an existing session names it in 'session'")
    first = duplicate_of(db, message, session)
    if first is not None:
        return first
    refuse_archived(db, session)
    refuse_full_queue(db, session, queue_limit)
    position = enqueue(db, message, session)
    touch_session(db, session, message["created_at"], added=1)
    return {"position": position}


def archive_session(db: sqlite3.Connection, session: str, at: int) -> dict[str, Any]:
    """Put a session away: what waits in its queue is cancelled; gives ``{"cancelled": ids}``.

    Raises Conflict ``missing``, ``archived`` (already), or ``busy`` when a turn of it runs.
    """
    refuse_archived(db, session)
    running = _HANDED.row(db, session=session)
    if running is not None:
        raise Conflict("busy", f"session {session} is working on {running[0]}")
    cancelled = [message for (message,) in _CANCEL_QUEUED.rows(db, session=session, at=at)]
    for message in cancelled:
        delete_outbox(db, message)
    _SET_ARCHIVED.run(db, session=session, at=at)
    append_event(db, session, "archived", at)
    return {"cancelled": cancelled}


def refuse_archived(db: sqlite3.Connection, session: str) -> None:
    """Raise Conflict ``missing`` or ``archived`` unless the session can take prompts."""
    row = _ARCHIVED_AT.row(db, session=session)
    if row is None:
        raise Conflict("missing", f"there is no session {session}")
    if row[0] is not None:
        raise Conflict("archived", f"session {session} is archived")
