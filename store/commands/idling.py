"""When nothing is left in the sessions that a subscription watches: told with the end of the last work."""

import json
import sqlite3
from typing import Any

from peewee import SQL, fn

from showcaller.store.commands.queue import append_event
from showcaller.store.models import HERE, Message, Subscription, Task, Watched, literal, unfinished
from showcaller.store.statement import Slot, Statement

NO_SESSION = ""
"""The session of an event that is about none alone."""

_RUNS = Task.status == literal("running")
_WAITS = unfinished(Message.status)
_OF_SESSION = Slot("session")


def _some(model: Any, *conditions: Any) -> Statement:
    return Statement(model.select(SQL("1")).where(*conditions).limit(1))


_IS_ANY = _some(Subscription, Subscription.ended_at.is_null(), Subscription.relay == literal(HERE))
_HAS_MESSAGE = _some(Message, _WAITS, Message.session == _OF_SESSION)
_HAS_TASK = _some(Task, _RUNS, Task.session == _OF_SESSION)
_HEARS = Subscription.events.is_null() | (fn.INSTR(Subscription.events, literal('"all_idle"')) > 0)
_OPEN = (
    Subscription.ended_at.is_null(),
    Subscription.relay == literal(HERE),
    Subscription.watcher != Slot("session"),
    _HEARS,
)
_WATCHING_IT = Statement(
    Subscription.select(Subscription.id, Subscription.watcher)
    .join(Watched, on=(Watched.subscription == Subscription.id))
    .where(Watched.session == _OF_SESSION, Watched.excluded == SQL("0"), *_OPEN)
    .order_by(Subscription.id)
)
_LEAVING_IT_OUT = Watched.select(Watched.subscription).where(
    Watched.session == _OF_SESSION, Watched.excluded == SQL("1")
)
_WATCHING_ALL = Statement(
    Subscription.select(Subscription.id, Subscription.watcher)
    .where(*_OPEN, Subscription.watches_all == SQL("1"), Subscription.id.not_in(_LEAVING_IT_OUT))
    .order_by(Subscription.id)
)
_ITS = Watched.select(Watched.session).where(
    Watched.subscription == Slot("subscription"), Watched.session != Slot("watcher")
)
_NAMED = _ITS.where(Watched.excluded == SQL("0"))
_LEFT_OUT = _ITS.where(Watched.excluded == SQL("1"))
_NAMED_AT_WORK = (
    _some(Message, _WAITS, Message.session.in_(_NAMED)),
    _some(Task, _RUNS, Task.session.in_(_NAMED)),
)
_ALL_AT_WORK = (
    _some(Message, _WAITS, Message.session != Slot("watcher"), Message.session.not_in(_LEFT_OUT)),
    _some(Task, _RUNS, Task.session != Slot("watcher"), Task.session.not_in(_LEFT_OUT)),
)
_NUMBER = Statement(_NAMED.select(fn.COUNT(Watched.session)))


def tell_all_idle(db: sqlite3.Connection, session: str, at: int) -> None:
    """Append ``all_idle`` for each subscription that watches a session whose work has just ended.

    It is appended when no turn and no task is left in any session that the subscription watches; messages
    that wait in a queue count as work. Its ``detail`` names the ``subscription``, and how many sessions are
    ``watched``, None for all.
    """
    if _IS_ANY.row(db) is None:
        return  # nobody watches, which is soon told
    if _HAS_MESSAGE.row(db, session=session) or _HAS_TASK.row(db, session=session):
        return
    for subscription, watcher in _WATCHING_IT.rows(db, session=session):
        if not _is_any(db, _NAMED_AT_WORK, subscription, watcher):
            row = _NUMBER.row(db, subscription=subscription, watcher=watcher)
            _append(db, subscription, row[0] if row else 0, at)
    for subscription, watcher in _WATCHING_ALL.rows(db, session=session):
        if not _is_any(db, _ALL_AT_WORK, subscription, watcher):
            _append(db, subscription, None, at)


def _is_any(db: sqlite3.Connection, at_work: tuple[Statement, ...], subscription: str, watcher: str) -> bool:
    return any(
        statement.row(db, subscription=subscription, watcher=watcher) is not None for statement in at_work
    )


def _append(db: sqlite3.Connection, subscription: str, watched: int | None, at: int) -> None:
    detail = json.dumps({"subscription": subscription, "watched": watched})
    append_event(db, NO_SESSION, "all_idle", at, detail=detail)
