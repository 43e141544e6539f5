"""The rows of a session's queue: messages, what must follow them, and the events about them."""

import sqlite3
from typing import Any, NotRequired, TypedDict

from peewee import fn

from showcaller.store.commands.repeats import repeated_prompt
from showcaller.store.conflict import Conflict
from showcaller.store.models import Event, Message, Outbox, Session, literal, unfinished
from showcaller.store.statement import Slot, Statement, insertion

START_OF_TEXT = 300
"""How much of a reply an event carries, in characters."""


class NewMessage(TypedDict):
    """A user message as its sender's side gives it: ``item`` is JSON text, ``timeout`` seconds.

    A ``client_id`` comes with the ``fingerprint`` of the call that it names. ``via`` is JSON text about the
    agent that sends it; ``model``, ``mode`` and ``effort`` are what the sender named for its turn.
    """

    id: str
    origin: str
    text: str
    created_at: int
    session: NotRequired[str]
    kind: NotRequired[str]
    hops: NotRequired[int]
    caller: NotRequired[str | None]
    client_id: NotRequired[str | None]
    fingerprint: NotRequired[str | None]
    item: NotRequired[str | None]
    fanout: NotRequired[str | None]
    timeout: NotRequired[float | None]
    model: NotRequired[str | None]
    mode: NotRequired[str | None]
    effort: NotRequired[str | None]
    via: NotRequired[str | None]


_BLANK: dict[str, Any] = {
    "kind": "text",
    "hops": 0,
    "caller": None,
    "item": None,
    "fanout": None,
    "timeout": None,
    "status": "queued",
    "worker": None,
    "truncated": False,
    "reply_to": None,
    "handed_at": None,
    "ended_at": None,
    "model": None,
    "mode": None,
    "effort": None,
    "via": None,
}
_GIVEN = frozenset(NewMessage.__annotations__)

_COMES_LATER = frozenset(
    {
        "position",
        "stop_reason",
        "error_class",
        "error_text",
        "exit_code",
        "seconds",
        "steered_into",
        "steer_taken",
    }
)

_INSERT_MESSAGE = insertion(Message, leave_out=_COMES_LATER)
_INSERT_OUTBOX = insertion(Outbox, leave_out=frozenset({"id"}))
_INSERT_EVENT = insertion(Event, leave_out=frozenset({"cursor", "task", "detail"}))
_INSERT_RARE_EVENT = insertion(Event, leave_out=frozenset({"cursor"}))
_DELETE_OUTBOX = Statement(Outbox.delete().where(Outbox.kind == literal("prompt"), Outbox.key == Slot("key")))
_COUNT_QUEUED = Statement(
    Message.select(fn.COUNT(Message.position)).where(
        Message.status == literal("queued"), Message.session == Slot("session"), unfinished(Message.status)
    )
)
_TOUCHED = {
    Session.last_activity_at: fn.MAX(Session.last_activity_at, Slot("at")),
    Session.message_count: Session.message_count + Slot("added"),
}
_TOUCH = Statement(Session.update(_TOUCHED).where(Session.id == Slot("session")))
_TYPED = Statement(
    Session.update({**_TOUCHED, Session.prompts_unasked: 0}).where(Session.id == Slot("session"))
)


def duplicate_of(db: sqlite3.Connection, message: NewMessage, session: str | None) -> dict[str, Any] | None:
    """Find what the same caller already sent under the same client id; None when there is nothing.

    Raises Conflict ``client_id`` when that was something else.
    """
    return repeated_prompt(
        db, message.get("caller"), message.get("client_id"), message.get("fingerprint"), session
    )


def refuse_foreign(message: NewMessage) -> None:
    """Raise TypeError when the message sets what no sender has a say in."""
    foreign = message.keys() - _GIVEN
    if foreign:
        raise TypeError(f"a new message does not take: {', '.join(sorted(foreign))}")


def refuse_full_queue(db: sqlite3.Connection, session: str, queue_limit: int) -> None:
    """Raise Conflict ``queue`` when as many messages wait in the session as may."""
    row = _COUNT_QUEUED.row(db, session=session)
    if row is not None and row[0] >= queue_limit:
        raise Conflict("queue", f"{queue_limit} messages wait in session {session} already")


def insert_message(db: sqlite3.Connection, values: dict[str, Any]) -> int:
    """Insert a message, columns that are not given being empty; gives its position."""
    position = _INSERT_MESSAGE.run(db, **{**_BLANK, **values}).lastrowid
    if position is None:
        raise RuntimeError("the inserted message has no position")
    return position


def insert_outbox(db: sqlite3.Connection, message: str, session: str, at: int) -> None:
    """Note that this message has to go to a worker."""
    _INSERT_OUTBOX.run(db, kind="prompt", key=message, session=session, created_at=at)


def delete_outbox(db: sqlite3.Connection, message: str) -> None:
    """Take the message off the list of those that have to go to a worker."""
    _DELETE_OUTBOX.run(db, key=message)


def append_event(
    db: sqlite3.Connection,
    session: str,
    kind: str,
    at: int,
    message: str | None = None,
    text: str = "",
    task: str | None = None,
    detail: str | None = None,
) -> int:
    """Append an event with the start of ``text``; gives its cursor. ``detail`` is JSON text."""
    is_rare = task is not None or detail is not None
    values = {"session": session, "kind": kind, "at": at, "message": message, "text": text[:START_OF_TEXT]}
    rare = {"task": task, "detail": detail} if is_rare else {}
    cursor = (_INSERT_RARE_EVENT if is_rare else _INSERT_EVENT).run(db, **values, **rare).lastrowid
    if cursor is None:
        raise RuntimeError("the appended event has no cursor")
    return cursor


def touch_session(
    db: sqlite3.Connection, session: str, at: int, added: int = 0, *, typed: bool = False
) -> None:
    """Move the session's last activity up to ``at`` and count ``added`` further messages.

    When its owner has ``typed`` them, what its agent sends to others is counted from 0 again.
    """
    (_TYPED if typed else _TOUCH).run(db, session=session, at=at, added=added)
