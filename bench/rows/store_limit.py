"""What SQLite alone can do here, so that rows that store can be read beside it."""

import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Final

from bench.quantities import Unit
from bench.row import Row

GROUP: Final = 100
ROWS_EACH: Final = 3
SCHEMA: Final = "CREATE TABLE kept (id TEXT PRIMARY KEY, owner TEXT NOT NULL, at REAL NOT NULL, text TEXT)"
INDEX: Final = "CREATE INDEX kept_owner ON kept (owner, at)"


def measure(count: int) -> float:
    """Give the commands per second, of three rows each, a commit for a hundred of them, each one synced."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-store-") as folder,
        closing(sqlite3.connect(Path(folder) / "limit.db", isolation_level=None)) as db,
    ):
        for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", SCHEMA, INDEX):
            db.execute(statement)
        began = time.perf_counter()
        for first in range(0, count, GROUP):
            db.execute("BEGIN IMMEDIATE")
            for number in range(first, min(first + GROUP, count)):
                for part in range(ROWS_EACH):
                    values = (f"row_{number}_{part}", f"ses_{number % 64}", float(number), "x" * 100)
                    db.execute("INSERT INTO kept VALUES (?, ?, ?, ?)", values)
            db.execute("COMMIT")
        return count / (time.perf_counter() - began)


ROW = Row(
    name="store-limit",
    title="SQLite alone: commands of 3 rows, 100 to a synced commit",
    unit=Unit.RATE,
    measure=measure,
    count=20_000,
    tiny=200,
    fixed=True,
)
