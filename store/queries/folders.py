"""Queries about the folders that sessions work in."""

import sqlite3
from typing import Final

from peewee import fn

from showcaller.store.models import Session
from showcaller.store.statement import Slot, Statement

LOOKED_AT: Final = 1_000
"""How many sessions are looked through for their folders, newest activity first."""

_NEWEST = (
    Session.select(Session.cwd, Session.last_activity_at)
    .order_by(Session.last_activity_at.desc(), Session.id.desc())
    .limit(LOOKED_AT)
    .alias("newest")
)
_FOLDERS = Statement(
    Session.select(_NEWEST.c.cwd)
    .from_(_NEWEST)
    .where(_NEWEST.c.cwd.is_null(False))
    .group_by(_NEWEST.c.cwd)
    .order_by(fn.MAX(_NEWEST.c.last_activity_at).desc(), _NEWEST.c.cwd)
    .limit(Slot("limit"))
)


def recent_folders(db: sqlite3.Connection, limit: int = 20) -> list[str]:
    """Give the folders in which the sessions of the newest activity work, that one's first."""
    return [folder for (folder,) in _FOLDERS.rows(db, limit=limit) if folder]
