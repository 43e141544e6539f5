"""Queries about the event log."""

import sqlite3
from typing import Any

from showcaller.store.models import Event, Relay
from showcaller.store.statement import Slot, Statement

_PAGE = Statement(
    Event.select().where(Event.cursor > Slot("since")).order_by(Event.cursor).limit(Slot("limit"))
)
_PRUNED = Statement(Relay.select(Relay.pruned_cursor))


def events(db: sqlite3.Connection, since: int = 0, limit: int = 1000) -> dict[str, Any]:
    """Give up to ``limit`` events after the cursor ``since``, in order: ``{"events", "next", "gap"}``.

    ``next`` is what the following page takes as ``since``. ``gap`` is None unless events after ``since``
    were deleted: then it is the first cursor from which on the log is whole.
    """
    page = _PAGE.records(db, since=since, limit=limit)
    row = _PRUNED.row(db)
    pruned = row[0] if row else 0
    following = page[-1]["cursor"] if page else max(since, pruned)
    return {"events": page, "next": following, "gap": pruned + 1 if since < pruned else None}
