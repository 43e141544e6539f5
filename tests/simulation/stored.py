"""What a relay's file says at one moment, read with SQL of its own and not with the relay's queries."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.simulation.books import Prompted

Row = dict[str, Any]


class Stored:
    """What the file says at one moment."""

    def __init__(self, path: Path) -> None:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            db.row_factory = sqlite3.Row
            db.execute("BEGIN")
            self.sessions = {row["id"]: row for row in _rows(db, "session", "id")}
            self.messages = {row["id"]: row for row in _rows(db, "message", "position")}
            self.events = _rows(db, "event", "cursor")
            self.outbox = _rows(db, "outbox", "id")
            self.tasks = _rows(db, "task", "started_at, id")
            self.cards = _rows(db, "card", "created_at, id")
            self.approvals = _rows(db, "approval", "conversation, kind")
            self.items = _rows(db, "fanout_item", '"group", number')

    @property
    def prompts(self) -> list[Row]:
        """The messages that open a turn, in the order of their acceptance."""
        return [row for row in self.messages.values() if row["role"] == "user"]

    def is_deleted(self, session: str) -> bool:
        """Whether only the tombstone of a session is left."""
        return self.sessions[session].get("deleted_at") is not None

    def kept_text(self, prompted: Prompted) -> str:
        """The text of a prompt as it must be stored: a deleted session has none any more."""
        return "" if self.is_deleted(prompted.session) else prompted.text

    def of(self, session: str, *statuses: str) -> list[Row]:
        """A session's prompts that have one of these statuses, or any."""
        return [
            row
            for row in self.prompts
            if row["session"] == session and (not statuses or row["status"] in statuses)
        ]


def _rows(db: sqlite3.Connection, table: str, order: str) -> list[Row]:
    return [dict(row) for row in db.execute(f"SELECT * FROM {table} ORDER BY {order}")]
