"""Running queries on read-only connections: in the thread that asks, or in a few threads of their own."""

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Final

from showcaller.store.database import OpenDatabase, open_for_reading
from showcaller.store.errors import RowDamaged, StoreClosed, is_row_damage, storage_error
from showcaller.store.queries import QUERIES, SHOWN
from showcaller.store.soundness import mending

QueryDone = Callable[[Any, Exception | None], None]

_LOG: Final = logging.getLogger(__name__)


def run_query(database: OpenDatabase, name: str, arguments: dict[str, Any]) -> Any:
    """Run one query on one state of the store; raises LookupError for an unknown name, or a StoreError."""
    query = QUERIES.get(name)
    if query is None:
        raise LookupError(f"there is no query {name!r}")
    db = database.connection
    try:
        db.execute("BEGIN")
        try:
            return query(db, **arguments)
        except (sqlite3.Error, RowDamaged) as error:
            if name not in SHOWN or not is_row_damage(error):
                raise
            _LOG.warning("the query %s shows damaged rows: %s", name, storage_error(error, database.path))
        with mending(db):
            return query(db, **arguments)
    except (sqlite3.Error, RowDamaged) as error:
        raise storage_error(error, database.path) or error from error
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


class InlineReader:
    """Runs each query in the thread that asks; for tests and small programs. Thread-safe."""

    def __init__(self, path: Path | str) -> None:
        """Open the store for reading; raises a StoreError that says what is wrong."""
        self._database = open_for_reading(path)
        self._turn = Lock()
        self._closed = False

    def read(self, name: str, arguments: dict[str, Any], done: QueryDone) -> None:
        """Run the query and give ``done`` its value and None, or None and its error, before this returns."""
        with self._turn:
            error = _closed(self._database.path) if self._closed else None
            value, failure = (None, error) if error else _outcome(self._database, name, arguments)
        done(value, failure)

    def close(self) -> None:
        """Wait for a query that runs in another thread, and close the connection."""
        with self._turn:
            self._closed = True
            self._database.close()


class ReaderThreads:
    """Runs queries in a few threads, each with a connection of its own. Thread-safe.

    ``done`` runs on one of those threads; queries that were asked for in an order may end in another.
    """

    def __init__(self, path: Path | str, threads: int = 2) -> None:
        """Open ``threads`` connections (1 or more); raises a StoreError that says what is wrong."""
        if threads < 1:
            raise ValueError("a reader needs at least one thread")
        self._path = Path(path)
        self._waiting: SimpleQueue[tuple[str, dict[str, Any], QueryDone] | None] = SimpleQueue()
        self._gate = Lock()
        self._closed = False
        self._threads = [
            Thread(target=self._work, args=(database,), name=f"showcaller-reader-{number}", daemon=True)
            for number, database in enumerate(_open_all(path, threads), 1)
        ]
        for thread in self._threads:
            thread.start()

    def read(self, name: str, arguments: dict[str, Any], done: QueryDone) -> None:
        """Queue the query; ``done`` gets its value and None, or None and its error."""
        with self._gate:
            if not self._closed:
                self._waiting.put((name, arguments, done))
                return
        done(None, _closed(self._path))

    def close(self) -> None:
        """Answer what was asked, close the connections, and wait for that; not to be called from ``done``."""
        with self._gate:
            if not self._closed:
                self._closed = True
                for _thread in self._threads:
                    self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self, database: OpenDatabase) -> None:
        while (asked := self._waiting.get()) is not None:
            name, arguments, done = asked
            value, error = _outcome(database, name, arguments)
            try:
                done(value, error)
            except Exception:  # noqa: BLE001 - a mistake of one asker must not end the thread of all
                _LOG.exception("what waited for the query %s failed to take its result", name)
        database.close()


def _outcome(database: OpenDatabase, name: str, arguments: dict[str, Any]) -> tuple[Any, Exception | None]:
    try:
        return run_query(database, name, arguments), None
    except Exception as error:  # noqa: BLE001 - whoever asked gets it, whatever it is
        return None, error


def _open_all(path: Path | str, count: int) -> list[OpenDatabase]:
    opened: list[OpenDatabase] = []
    try:
        for _number in range(count):
            opened.append(open_for_reading(path))  # noqa: PERF401 - those opened so far must be closed on an error
    except BaseException:
        for database in opened:
            database.close()
        raise
    return opened


def _closed(path: Path) -> StoreClosed:
    return StoreClosed(path, "its reader was closed")
