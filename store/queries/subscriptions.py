"""Queries about subscriptions: what a conversation watches, and what waits for it."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from peewee import JOIN, fn

from showcaller.store.models import (
    Event,
    HeldEvent,
    Message,
    Session,
    Subscription,
    Watched,
    Watcher,
    holds_events,
    literal,
    unfinished,
)
from showcaller.store.soundness import read_json
from showcaller.store.statement import Slot, Statement

_HOLDS = holds_events()
_OPEN = Subscription.ended_at.is_null()
_IN_ORDER = (Subscription.created_at, Subscription.id)
_AT_WORK = Statement(
    Subscription.select().where(Subscription.watcher == Slot("watcher"), _OPEN | _HOLDS).order_by(*_IN_ORDER)
)
_LISTED = Statement(
    Subscription.select()
    .where(
        Subscription.watcher == Slot("watcher"),
        _OPEN | (Subscription.ended_at >= Slot("ended_since")) | _HOLDS,
    )
    .order_by(*_IN_ORDER)
)
_IS_AWAY = Session.id.is_null() | Session.archived_at.is_null(False) | Session.deleted_at.is_null(False)
_WILL_BE_TOLD = fn.EXISTS(
    Event.select(Event.cursor).where(
        Event.cursor > Slot("cursor"), Event.session == Watched.session, Event.kind == literal("archived")
    )
)
_NAMED = Statement(
    Watched.select(
        Watched.session,
        Watched.excluded,
        fn.COALESCE(Session.title, "").alias("title"),
        (_IS_AWAY & ~_WILL_BE_TOLD).alias("put_away"),
    )
    .join(Session, JOIN.LEFT_OUTER, on=(Session.id == Watched.session))
    .where(Watched.subscription == Slot("subscription"))
    .order_by(Session.created_at, Watched.session)
)
_HELD = Statement(
    HeldEvent.select(HeldEvent.subscription, HeldEvent.cursor, HeldEvent.event, HeldEvent.due_at)
    .join(Subscription, on=(Subscription.id == HeldEvent.subscription))
    .where(Subscription.watcher == Slot("watcher"))
    .order_by(HeldEvent.cursor, HeldEvent.subscription)
)
_PACE = Statement(
    Watcher.select(Watcher.wakeups, Watcher.window_ends_at, Watcher.digest_at).where(
        Watcher.session == Slot("watcher")
    )
)
_UNREAD = Statement(
    Message.select(Message.id, Message.text)
    .where(
        Message.session == Slot("watcher"),
        Message.origin == literal("wakeup"),
        Message.status == literal("queued"),
        unfinished(Message.status),
    )
    .order_by(Message.position.desc())
    .limit(1)
)
_WATCHER_OF = Statement(
    Subscription.select(Subscription.watcher).where(Subscription.id == Slot("subscription"), _OPEN)
)
# Each half goes by an index of its own: what is open, and what is held, and never all that ever ended.
_OPEN_WATCHERS = Statement(Subscription.select(Subscription.watcher).where(_OPEN).distinct())
_HOLDING_WATCHERS = Statement(
    Subscription.select(Subscription.watcher)
    .where(Subscription.id.in_(HeldEvent.select(HeldEvent.subscription)))
    .distinct()
)


def watching(db: sqlite3.Connection, watcher: str) -> dict[str, Any]:
    """Give what waits for a conversation: ``{"subscriptions", "held", "pace", "unread"}``.

    Subscriptions, in the order in which they were made, are the open ones and those that have ended and
    still hold something; each has its columns, the lists ``events`` and ``matches`` (None without), and
    ``sessions`` and ``excluded``, lists of ``{"id", "title", "put_away"}``: whether the session was put away,
    and the subscription has seen that. Of ``held``, by the log's order, each is ``{"subscription",
    "cursor", "event", "due_at"}``, with what its line tells as ``event``. ``pace`` is ``{"wakeups",
    "window_ends_at", "digest_at"}``, None for a watcher of which nothing was stored yet. ``unread`` is the
    newest wake-up message that waits in its queue, ``{"id", "text"}``, or None.
    """
    pace = _PACE.record(db, watcher=watcher)
    if pace is not None:
        pace["wakeups"] = read_json(pace["wakeups"], f"watcher {watcher}: wakeups")
    return {
        "subscriptions": _with_sessions(db, _AT_WORK.records(db, watcher=watcher)),
        "held": [_read_event(row) for row in _HELD.records(db, watcher=watcher)],
        "pace": pace,
        "unread": _UNREAD.record(db, watcher=watcher),
    }


def subscriptions(db: sqlite3.Connection, watcher: str, ended_since: int) -> list[dict[str, Any]]:
    """Give the subscriptions of a conversation, as ``watching`` does, with those ended since an instant."""
    return _with_sessions(db, _LISTED.records(db, watcher=watcher, ended_since=ended_since))


def watchers(db: sqlite3.Connection) -> list[str]:
    """Give the conversations that watch something or for which something is held, by their ids."""
    found = {
        watcher for statement in (_OPEN_WATCHERS, _HOLDING_WATCHERS) for (watcher,) in statement.rows(db)
    }
    return sorted(found)


def watcher_of(db: sqlite3.Connection, subscription: str) -> str | None:
    """Give the conversation that holds an open subscription; None when there is no such one."""
    row = _WATCHER_OF.row(db, subscription=subscription)
    return None if row is None else str(row[0])


def _with_sessions(db: sqlite3.Connection, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_shaped(db, row) for row in rows]


def _read_event(row: dict[str, Any]) -> dict[str, Any]:
    text = row["event"]
    what = f"subscription {row['subscription']}: event {row['cursor']}"
    return {**row, "event": None if text is None else read_json(text, what)}


def _shaped(db: sqlite3.Connection, row: dict[str, Any]) -> dict[str, Any]:
    named = _NAMED.records(db, subscription=row["id"], cursor=row["cursor"])
    lists = {
        name: None if row[name] is None else read_json(row[name], f"subscription {row['id']}: {name}")
        for name in ("events", "matches")
    }
    return {
        **row,
        **lists,
        "sessions": [_named(each) for each in named if not each["excluded"]],
        "excluded": [_named(each) for each in named if each["excluded"]],
    }


def _named(row: dict[str, Any]) -> dict[str, Any]:
    return {"id": row["session"], "title": row["title"], "put_away": bool(row["put_away"])}
