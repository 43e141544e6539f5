"""Commands that delete what is kept for a time only, so much at once that nobody waits for long."""

import sqlite3
from typing import Any, Final

from peewee import SQL, fn

from showcaller.store.models import (
    ClientId,
    Delivery,
    Event,
    Relay,
    Subscription,
    Task,
    Watched,
    holds_events,
)
from showcaller.store.statement import Slot, Statement

AT_ONCE: Final = 5_000
"""How many rows one command deletes at most."""

_NEWEST: Final = Statement(Event.select(fn.MAX(Event.cursor)))
_OLDEST: Final = Statement(Event.select(Event.cursor, Event.at).order_by(Event.cursor).limit(Slot("limit")))
_DELETE_EVENTS: Final = Statement(Event.delete().where(Event.cursor <= Slot("last")))
_MARK: Final = Statement(Relay.update(pruned_cursor=fn.MAX(Relay.pruned_cursor, Slot("last"))))
_ROW: Final = SQL("rowid")
_OLD_CLIENT_IDS: Final = Statement(
    ClientId.select(_ROW, ClientId.created_at).order_by(_ROW).limit(Slot("limit"))
)
_DELETE_CLIENT_IDS: Final = Statement(ClientId.delete().where(SQL("rowid") <= Slot("last")))
_OLD_TAILS: Final = (
    Task.select(Task.id).where(Task.tail.is_null(False), Task.ended_at < Slot("before")).limit(Slot("limit"))
)
_EMPTY_TAILS: Final = Statement(Task.update(tail=None).where(Task.id.in_(_OLD_TAILS)))

_ENDED: Final = Statement(
    Subscription.select(Subscription.id)
    .where(Subscription.ended_at < Slot("before"), ~holds_events())
    .limit(Slot("limit"))
)
_FORGET_ENDED: Final = Statement(Subscription.delete().where(Subscription.id == Slot("subscription")))
_FORGET_WATCHED: Final = Statement(Watched.delete().where(Watched.subscription == Slot("subscription")))
_OLD_DELIVERIES: Final = (
    Delivery.select(_ROW).where(Delivery.delivered_at < Slot("before")).limit(Slot("limit"))
)
_FORGET_DELIVERIES: Final = Statement(Delivery.delete().where(_ROW.in_(_OLD_DELIVERIES)))


def prune_events(db: sqlite3.Connection, before: int, keep: int, limit: int = AT_ONCE) -> dict[str, Any]:
    """Delete from the start of the log what happened before ``before``, and what is beyond ``keep`` events.

    Gives ``{"pruned", "more"}``: how many went, and whether ``limit`` was in the way of further ones. A
    reader whose cursor is behind what was deleted sees a gap.
    """
    row = _NEWEST.row(db)
    if row is None or row[0] is None:
        return {"pruned": 0, "more": False}
    too_many = row[0] - keep
    last = 0
    looked_at = _OLDEST.rows(db, limit=limit)
    for cursor, at in looked_at:
        if cursor > too_many and at >= before:
            break
        last = cursor
    pruned = _DELETE_EVENTS.run(db, last=last).rowcount if last else 0
    if pruned:
        _MARK.run(db, last=last)
    return {"pruned": pruned, "more": pruned == limit}


def prune_client_ids(db: sqlite3.Connection, before: int, limit: int = AT_ONCE) -> dict[str, Any]:
    """Forget what callers named their writes before ``before``; gives ``{"pruned", "more"}``."""
    last = None
    for row, created_at in _OLD_CLIENT_IDS.rows(db, limit=limit):
        if created_at >= before:
            break
        last = row
    pruned = 0 if last is None else _DELETE_CLIENT_IDS.run(db, last=last).rowcount
    return {"pruned": pruned, "more": pruned == limit}


def prune_tasks(db: sqlite3.Connection, before: int, limit: int = AT_ONCE) -> dict[str, Any]:
    """Empty the output of tasks that ended before ``before``; gives ``{"pruned", "more"}``."""
    pruned = _EMPTY_TAILS.run(db, before=before, limit=limit).rowcount
    return {"pruned": pruned, "more": pruned == limit}


def prune_subscriptions(db: sqlite3.Connection, before: int, limit: int = AT_ONCE) -> dict[str, Any]:
    """Forget subscriptions that ended before ``before`` and hold nothing; gives ``{"pruned", "more"}``."""
    ended = [{"subscription": each} for (each,) in _ENDED.rows(db, before=before, limit=limit)]
    _FORGET_WATCHED.run_many(db, ended)
    _FORGET_ENDED.run_many(db, ended)
    return {"pruned": len(ended), "more": len(ended) == limit}


def prune_deliveries(db: sqlite3.Connection, before: int, limit: int = AT_ONCE) -> dict[str, Any]:
    """Forget which events reached their watchers before ``before``; gives ``{"pruned", "more"}``.

    Whoever took them has seen more of the log since, so they do not come again.
    """
    pruned = _FORGET_DELIVERIES.run(db, before=before, limit=limit).rowcount
    return {"pruned": pruned, "more": pruned == limit}
