"""Commands that put sessions away: archived, or deleted for good."""

import sqlite3
from typing import Any

from showcaller.store.commands.cards import withdraw_waiting
from showcaller.store.commands.holds import refuse_archived
from showcaller.store.commands.idling import tell_all_idle
from showcaller.store.commands.queue import append_event, delete_outbox
from showcaller.store.commands.repeats import NamedCall, remember_result, repeated_call
from showcaller.store.commands.subscriptions import end_watching
from showcaller.store.conflict import Conflict
from showcaller.store.models import (
    Activity,
    Approval,
    Card,
    Event,
    Message,
    Session,
    SessionGroup,
    Task,
    literal,
    running_turn,
    unfinished,
)
from showcaller.store.statement import Slot, Statement

_THIS = Session.id == Slot("session")
_OF_SESSION = Message.session == Slot("session")
_RUNNING = Statement(Message.select(Message.id).where(*running_turn(), _OF_SESSION).limit(1))
_RUNNING_TASK = Statement(
    Task.select(Task.id).where(Task.status == literal("running"), Task.session == Slot("session")).limit(1)
)
_CANCEL_QUEUED = Statement(
    Message.update(status="cancelled", ended_at=Slot("at"))
    .where(Message.status == literal("queued"), _OF_SESSION, unfinished(Message.status))
    .returning(Message.id, Message.position)
)
_ARCHIVE = Statement(
    Session.update(archived_at=Slot("at"), last_activity_at=Slot("at"), held_at=None).where(_THIS)
)
_PLACE = Statement(Session.select(Session.archived_at, Session.deleted_at).where(_THIS))
_BURY = (
    Statement(
        Session.update(
            title="",
            cwd=None,
            repo=None,
            branch=None,
            group=None,
            agent_session_id=None,
            held_at=None,
            archived_at=Slot("archived_at"),
            deleted_at=Slot("at"),
            last_activity_at=Slot("at"),
        ).where(_THIS)
    ),
    Statement(
        Message.update(text="", item=None, via=None, error_text=None).where(
            Message.session == Slot("session")
        )
    ),
    Statement(Activity.delete().where(Activity.session == Slot("session"))),
    Statement(Task.update(description="", tail=None).where(Task.session == Slot("session"))),
    Statement(
        Card.update(
            question="", detail=None, options=None, form=None, answer=None, call=None, grants=None
        ).where(Card.session == Slot("session"))
    ),
    Statement(Approval.delete().where(Approval.conversation == Slot("session"))),
    Statement(Event.update(text="").where(Event.session == Slot("session"))),
    Statement(SessionGroup.update(head=None).where(SessionGroup.head == Slot("session"))),
)


def archive_session(
    db: sqlite3.Connection, session: str, at: int, call: NamedCall | None = None
) -> dict[str, Any]:
    """Put a session away: what waits in its queue is cancelled; gives ``{"cancelled": ids}``, in order.

    Gives ``{"duplicate_result"}`` of the same ``call``. Raises Conflict ``missing``, ``archived``
    (already), ``busy`` when a turn or a task of it runs, or ``client_id``.
    """
    repeated = repeated_call(db, call)
    if repeated is not None:
        return repeated
    refuse_archived(db, session)
    refuse_running(db, session)
    value = {"cancelled": _cancel_queued(db, session, at)}
    withdraw_waiting(db, session, at)
    end_watching(db, session, "archived", at)
    _ARCHIVE.run(db, session=session, at=at)
    append_event(db, session, "archived", at)
    if value["cancelled"]:
        tell_all_idle(db, session, at)
    remember_result(db, call, value, at)
    return value


def delete_session(
    db: sqlite3.Connection, session: str, at: int, call: NamedCall | None = None
) -> dict[str, Any]:
    """Delete a session, archived or not, with its texts; gives what ``archive_session`` gives.

    What stays says only that there was something: its row, and its messages with how they ended. The
    record of a fan-out stays with the fan-out. Raises Conflict ``missing`` (also when it was deleted
    before), ``busy`` or ``client_id``.
    """
    repeated = repeated_call(db, call)
    if repeated is not None:
        return repeated
    row = _PLACE.row(db, session=session)
    if row is None or row[1] is not None:
        raise Conflict(
            "missing", f"session {session} was deleted" if row else f"there is no session {session}"
        )
    refuse_running(db, session)
    value = {"cancelled": _cancel_queued(db, session, at)}
    withdraw_waiting(db, session, at)
    end_watching(db, session, "deleted", at)
    archived_at = at if row[0] is None else row[0]
    for statement in _BURY:
        statement.run(db, session=session, at=at, archived_at=archived_at)
    append_event(db, session, "archived", at, text="deleted")
    if value["cancelled"]:
        tell_all_idle(db, session, at)
    remember_result(db, call, value, at)
    return value


def refuse_running(db: sqlite3.Connection, session: str) -> None:
    """Raise Conflict ``busy`` when a turn or a task of the session runs."""
    running = _RUNNING.row(db, session=session) or _RUNNING_TASK.row(db, session=session)
    if running is not None:
        raise Conflict("busy", f"session {session} is working on {running[0]}")


def _cancel_queued(db: sqlite3.Connection, session: str, at: int) -> list[str]:
    rows = _CANCEL_QUEUED.rows(db, session=session, at=at)
    cancelled = [message for message, _position in sorted(rows, key=lambda row: int(row[1]))]
    for message in cancelled:
        delete_outbox(db, message)
    return cancelled
