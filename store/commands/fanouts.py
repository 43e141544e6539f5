"""Commands about fan-out jobs and their items."""

import sqlite3
from collections.abc import Sequence
from typing import Any, TypedDict

from showcaller.store.commands.arrivals import HandOver
from showcaller.store.commands.groups import create_group
from showcaller.store.commands.queue import NewMessage
from showcaller.store.commands.sessions import NewSession, accept_message, create_session
from showcaller.store.conflict import Conflict
from showcaller.store.models import Fanout, FanoutItem
from showcaller.store.statement import Slot, Statement, insertion


class NewGroup(TypedDict):
    """The group that a fan-out's sessions belong to."""

    id: str
    name: str | None


_INSERT_FANOUT = insertion(Fanout)
_INSERT_ITEM = insertion(FanoutItem)
_THIS_ITEM = (FanoutItem.group == Slot("group"), FanoutItem.number == Slot("number"))
_FIND_ITEM = Statement(FanoutItem.select(FanoutItem.session, FanoutItem.status).where(*_THIS_ITEM))
_ATTEMPT = Statement(
    FanoutItem.update(
        session=Slot("session"), message=Slot("message"), attempts=FanoutItem.attempts + 1
    ).where(*_THIS_ITEM)
)
_RECORD = Statement(
    FanoutItem.update(
        status=Slot("status"),
        exit_code=Slot("exit_code"),
        reply=Slot("reply"),
        seconds=Slot("seconds"),
        error=Slot("error"),
        ended_at=Slot("at"),
    ).where(*_THIS_ITEM, FanoutItem.status.is_null())
)
_FINISH = Statement(Fanout.update(finished_at=Slot("at")).where(Fanout.group == Slot("group")))
_BLANK: dict[str, Any] = {
    "session": None,
    "message": None,
    "attempts": 0,
    "status": None,
    "exit_code": None,
    "reply": None,
    "seconds": None,
    "error": None,
    "ended_at": None,
}


def start_fanout(db: sqlite3.Connection, group: NewGroup, spec: str, items: Sequence[str], at: int) -> None:
    """Store a fan-out whole: its group, its ``spec`` and its items (each JSON text), numbered from 1."""
    create_group(db, group["id"], group["name"], "owner", at)
    _INSERT_FANOUT.run(db, group=group["id"], spec=spec, created_at=at, finished_at=None)
    blank = {**_BLANK, "group": group["id"]}
    _INSERT_ITEM.run_many(
        db, ({**blank, "number": number, "item": item} for number, item in enumerate(items, 1))
    )


def start_item(
    db: sqlite3.Connection,
    group: str,
    number: int,
    session: NewSession,
    message: NewMessage,
    hand_over: HandOver | None = None,
) -> dict[str, Any]:
    """Make the session of an item with its prompt, as ``create_session`` does and with its results.

    Raises Conflict ``missing`` (no such item), ``recorded`` (it has its result) or ``started`` (it has a
    session: ``retry_item``).
    """
    if _unrecorded(db, group, number) is not None:
        raise Conflict("started", f"item {number} of {group} has a session already")
    created = create_session(db, session, {**message, "fanout": group}, hand_over=hand_over)
    if "duplicate" not in created:
        _ATTEMPT.run(db, group=group, number=number, session=session["id"], message=message["id"])
    return created


def retry_item(
    db: sqlite3.Connection,
    group: str,
    number: int,
    message: NewMessage,
    *,
    queue_limit: int,
    hand_over: HandOver | None = None,
) -> dict[str, Any]:
    """Queue a further attempt at an item in its session, as ``accept_message`` does and with its results.

    Raises Conflict ``missing``, ``recorded``, or ``not_started`` (it has no session yet: ``start_item``).
    """
    session = _unrecorded(db, group, number)
    if session is None:
        raise Conflict("not_started", f"item {number} of {group} has no session yet")
    attempt: NewMessage = {**message, "session": session, "fanout": group}
    accepted = accept_message(db, attempt, queue_limit=queue_limit, hand_over=hand_over)
    if "duplicate" not in accepted:
        _ATTEMPT.run(db, group=group, number=number, session=session, message=message["id"])
    return accepted


def record_item(  # noqa: PLR0913 - one argument for each fact about a result
    db: sqlite3.Connection,
    *,
    group: str,
    number: int,
    status: str,
    exit_code: int | None,
    reply: str | None,
    seconds: float | None,
    error: str | None,
    at: int,
) -> None:
    """Record the one result of an item; raises Conflict ``missing``, or ``recorded`` when it has one."""
    changed = _RECORD.run(
        db,
        group=group,
        number=number,
        status=status,
        exit_code=exit_code,
        reply=reply,
        seconds=seconds,
        error=error,
        at=at,
    ).rowcount
    if not changed:
        _unrecorded(db, group, number)


def finish_fanout(db: sqlite3.Connection, group: str, at: int) -> None:
    """Note when the whole fan-out had ended; raises Conflict ``missing``."""
    if not _FINISH.run(db, group=group, at=at).rowcount:
        raise Conflict("missing", f"there is no fan-out {group}")


def _unrecorded(db: sqlite3.Connection, group: str, number: int) -> str | None:
    """Give the session of an item that has no result yet (None before its first start)."""
    row = _FIND_ITEM.row(db, group=group, number=number)
    if row is None:
        raise Conflict("missing", f"fan-out {group} has no item {number}")
    session, status = row
    if status is not None:
        raise Conflict("recorded", f"item {number} of {group} ended as {status}")
    found: str | None = session
    return found
