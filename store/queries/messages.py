"""Queries about messages: a page of a conversation, what waits, one prompt with its reply, the last words."""

import sqlite3
from typing import Any, Final

from peewee import SQL, fn

from showcaller.store.models import Activity, Message, Session, literal, unfinished
from showcaller.store.soundness import readable
from showcaller.store.statement import Slot, Statement

LAST_BYTES: Final = 16 * 1024
"""How much of the end of a reply ``last_words`` reads: a list of sessions asks for each of them."""

_NEWEST_FIRST = (
    Message.select()
    .where(Message.session == Slot("session"))
    .order_by(Message.position.desc())
    .limit(Slot("limit"))
)
_LAST = Statement(_NEWEST_FIRST)
_BEFORE = Statement(_NEWEST_FIRST.where(Message.position < Slot("before")))
_BY_ID = Statement(Message.select().where(Message.id == Slot("message")))
# Of bytes: text is counted up to a zero character alone. As digits: a cut through a character is no text.
_BYTES = Message.text.cast("BLOB")
_ACTIVITY = Statement(Activity.select(Activity.lines).where(Activity.message == Slot("message")))
_WAITING = Statement(
    Message.select()
    .where(
        Message.session == Slot("session"),
        Message.status == literal("queued"),
        unfinished(Message.status),
        fn.EXISTS(
            Session.select(SQL("1")).where(
                Session.id == Message.session, Session.archived_at.is_null(), Session.held_at.is_null()
            )
        ),
    )
    .order_by(Message.position + 0)
)
_MOST_HOPS = Statement(Message.select(fn.MAX(Message.hops)).where(Message.session == Slot("session")))
_LAST_WORDS = Statement(
    Message.select(fn.HEX(fn.SUBSTR(_BYTES, -LAST_BYTES)), fn.LENGTH(_BYTES))
    .where(Message.session == Slot("session"), Message.role == literal("agent"))
    .order_by(Message.position.desc())
    .limit(1)
)
_REPLY = Statement(
    Message.select()
    .where(
        Message.session == Slot("session"),
        Message.position > Slot("position"),
        Message.reply_to == Slot("message"),
    )
    .order_by(Message.position)
    .limit(1)
)


def read_messages(
    db: sqlite3.Connection,
    session: str,
    last: int = 10,
    before: int | None = None,
    *,
    with_activity: bool = False,
) -> dict[str, Any]:
    """Give a session's newest messages (of those accepted before the position ``before``), newest last.

    ``{"messages", "older"}``: ``older`` is what the page before this one takes as ``before``, None when
    there is nothing older. ``with_activity`` each has ``activity``: the lines of what its agent did, None of
    which there are none.
    """
    if before is None:
        page = _LAST.records(db, session=session, limit=last + 1)
    else:
        page = _BEFORE.records(db, session=session, limit=last + 1, before=before)
    older = page[last - 1]["position"] if len(page) > last else None
    messages = [shaped(row) for row in reversed(page[:last])]
    if with_activity:
        messages = [{**row, "activity": activity_of(db, row["id"])} for row in messages]
    return {"messages": messages, "older": older}


def activity_of(db: sqlite3.Connection, message: str) -> list[str] | None:
    """Give the lines of what an agent did that are shown with a message; None for none."""
    found = _ACTIVITY.row(db, message=message)
    return None if found is None else str(found[0]).split("\n")


def waiting_messages(db: sqlite3.Connection, session: str) -> list[dict[str, Any]]:
    """Give the prompts that wait in a session, in the order of acceptance; none while a stop holds them."""
    return [shaped(row) for row in _WAITING.records(db, session=session)]


def most_hops(db: sqlite3.Connection, session: str) -> int:
    """Give the most hops that any message of a session has had, 0 for one without messages."""
    row = _MOST_HOPS.row(db, session=session)
    return 0 if row is None or row[0] is None else int(row[0])


def message(db: sqlite3.Connection, message: str) -> dict[str, Any] | None:
    """Give a message with the agent's reply to it under ``reply`` (None without); None for an unknown id.

    The reply to a message that joined a turn is that turn's, if the agent acknowledged the message.
    """
    found = _BY_ID.record(db, message=message)
    if found is None:
        return None
    reply = None
    if found["steered_into"] is None or found["steer_taken"]:
        turn = found["steered_into"] or message
        reply = _REPLY.record(db, session=found["session"], position=found["position"], message=turn)
    return {**shaped(found), "reply": None if reply is None else shaped(reply)}


def last_words(db: sqlite3.Connection, session: str) -> dict[str, Any] | None:
    """Give the end of the newest message of a session's agent; None before its first.

    ``{"text", "is_whole"}``: a longer message is cut in front, to ``LAST_BYTES`` of UTF-8.
    """
    found = _LAST_WORDS.row(db, session=session)
    if found is None:
        return None
    end, length = found
    return {"text": readable(bytes.fromhex(end)), "is_whole": length <= LAST_BYTES}


def shaped(row: dict[str, Any]) -> dict[str, Any]:
    """Give a message's row as data: what SQLite keeps as a number and means yes or no becomes a bool."""
    return {**row, "truncated": bool(row["truncated"]), "steer_taken": bool(row["steer_taken"])}
