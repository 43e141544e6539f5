"""Queries about fan-outs: one with its counts, its items page by page, and the newest ones."""

import sqlite3
from typing import Any

from peewee import fn

from showcaller.store.models import Fanout, FanoutItem, SessionGroup
from showcaller.store.statement import Slot, Statement

_FANOUTS = Fanout.select(
    Fanout.group, SessionGroup.name, Fanout.spec, Fanout.created_at, Fanout.finished_at
).join(SessionGroup, on=(SessionGroup.id == Fanout.group))
_BY_GROUP = Statement(_FANOUTS.where(Fanout.group == Slot("group")))
_NEWEST = Statement(_FANOUTS.order_by(Fanout.created_at.desc()).limit(Slot("limit")))
_COUNTS = Statement(
    FanoutItem.select(FanoutItem.status, fn.COUNT(FanoutItem.number))
    .where(FanoutItem.group == Slot("group"))
    .group_by(FanoutItem.status)
)
_ITEMS = Statement(
    FanoutItem.select()
    .where(FanoutItem.group == Slot("group"), FanoutItem.number > Slot("after"))
    .order_by(FanoutItem.number)
    .limit(Slot("limit"))
)


def fanout(db: sqlite3.Connection, group: str) -> dict[str, Any] | None:
    """Give a fan-out: its columns, its group's ``name``, ``total``, ``recorded`` and ``counts`` by status."""
    found = _BY_GROUP.record(db, group=group)
    return None if found is None else _with_counts(db, found)


def fanout_items(
    db: sqlite3.Connection, group: str, after: int = 0, limit: int = 1000
) -> list[dict[str, Any]]:
    """Give up to ``limit`` items with a number above ``after``, in order."""
    return _ITEMS.records(db, group=group, after=after, limit=limit)


def last_fanouts(db: sqlite3.Connection, limit: int = 10) -> list[dict[str, Any]]:
    """Give the newest fan-outs, newest first, each as ``fanout`` does."""
    return [_with_counts(db, found) for found in _NEWEST.records(db, limit=limit)]


def _with_counts(db: sqlite3.Connection, found: dict[str, Any]) -> dict[str, Any]:
    by_status = dict(_COUNTS.rows(db, group=found["group"]))
    total = sum(by_status.values())
    open_items = by_status.pop(None, 0)
    return {**found, "total": total, "recorded": total - open_items, "counts": by_status}
