"""What 100,000 sessions that sleep, half of them archived, cost a relay beside 100 of them."""

import statistics
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.quantities import Unit
from bench.row import Measure, Row

if TYPE_CHECKING:
    import sqlite3

    from showcaller.embedding import Relay

FEW: Final = 100
CALLS: Final = 21  # the median of so many counts; the first ones find nothing in memory yet
NUMBERS: Final = (
    "WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)"
)
SESSION: Final = "printf('ses_s%011d', n)"
PROMPT: Final = "printf('msg_p%011d', n)"
COPIES: Final[dict[str, dict[str, str]]] = {
    "session": {
        "id": SESSION,
        "title": "'One of many sessions, number ' || n",
        "last_activity_at": "last_activity_at - n",
        "archived_at": "CASE n % 2 WHEN 0 THEN last_activity_at END",
    },
    "message": {
        "position": "NULL",
        "id": f"CASE role WHEN 'user' THEN {PROMPT} ELSE printf('msg_r%011d', n) END",
        "session": SESSION,
        "reply_to": f"CASE WHEN reply_to IS NOT NULL THEN {PROMPT} END",
    },
    "event": {"cursor": "NULL", "session": SESSION, "message": PROMPT},
}
"""What differs in the copies of a session, its messages and its events; the rest is that of the first one."""


@contextmanager
def many(count: int) -> Generator[tuple[Path, str]]:
    """Give a data folder with so many sessions, each of which had one turn, and the id of the first."""
    from showcaller.data_folder import DataFolder
    from showcaller.embedding import Relay
    from showcaller.store.database import open_for_writing

    with tempfile.TemporaryDirectory(prefix="bench-many-") as folder:
        home = Path(folder)
        with Relay.open(home) as relay:
            first = started(relay)
            ended(relay, first)
        with closing(open_for_writing(DataFolder(home).database)) as database:
            database.connection.execute("BEGIN IMMEDIATE")
            for table, differing in COPIES.items():
                copy(database.connection, table, differing, count)
            database.connection.execute("COMMIT")
        yield home, first["session"]


def copy(db: "sqlite3.Connection", table: str, differing: dict[str, str], count: int) -> None:
    """Copy the rows of a table that belong to the first session, until there are so many sessions."""
    columns = [f'"{row[1]}"' for row in db.execute(f'PRAGMA table_info("{table}")')]
    values = [differing.get(column.strip('"'), column) for column in columns]
    rows = f"SELECT {', '.join(values)} FROM numbers, (SELECT * FROM {table}) ORDER BY n"
    db.execute(f"{NUMBERS} INSERT INTO {table} ({', '.join(columns)}) {rows}", {"count": count})


def started(relay: "Relay") -> dict[str, Any]:
    """Start a session, and give what the call gave once it is stored."""
    return carried_out(relay, action="create_session", text="echo done", wait_seconds=0)


def ended(relay: "Relay", begun: dict[str, Any]) -> None:
    """Wait for the end of a session's turn."""
    named = {name: begun[name] for name in ("session", "message_id")}
    carried_out(relay, action="wait", **named, wait_seconds=60)


def carried_out(relay: "Relay", **call: Any) -> dict[str, Any]:
    """Make a call; raises ``RuntimeError`` when it was refused."""
    result = relay.call(call)
    if not result["ok"]:
        raise RuntimeError(f"{call} was refused: {result}")
    return result


def opening(count: int) -> float:
    """Give the seconds until a relay that is opened has answered its first call."""
    from showcaller.embedding import Relay

    with many(count) as (home, _):
        began = time.perf_counter()
        with Relay.open(home) as relay:
            carried_out(relay, action="list_sessions", scope="recent")
            return time.perf_counter() - began


def asking(**call: Any) -> Measure:
    """Measure the seconds until a call is answered; ``session`` is the first one where it is asked for."""

    def measure(count: int) -> float:
        from showcaller.embedding import Relay

        with many(count) as (home, first), Relay.open(home) as relay:
            named = {"session": first} if call["action"] == "read_session" else {}
            return middle(lambda: carried_out(relay, **call, **named))

    return measure


def creating(count: int) -> float:
    """Give the seconds until one more session is stored."""
    from showcaller.embedding import Relay

    with many(count) as (home, _), Relay.open(home) as relay:
        return middle(lambda: started(relay), lambda begun: ended(relay, begun))


def middle(act: Callable[[], dict[str, Any]], then: Callable[[dict[str, Any]], object] = bool) -> float:
    """Give the median of the seconds that an act takes, without what follows each."""
    took = []
    for _ in range(CALLS):
        began = time.perf_counter()
        result = act()
        took.append(time.perf_counter() - began)
        then(result)
    return statistics.median(took)


def row(name: str, title: str, measure: Measure, limit: float | None = None) -> Row:
    """Make a row that compares many sessions with few."""
    return Row(
        name=f"many-{name}",
        title=f"100,000 sleeping sessions beside {FEW}: {title}",
        unit=Unit.SECONDS,
        measure=measure,
        count=100_000,
        tiny=20,
        fixed=True,
        limit=limit,
        plain=lambda count: measure(min(FEW, count)),
    )


ROWS: Final = (
    row("open", "open the relay, first answer", opening, limit=2.0),
    row("active", "list those at work", asking(action="list_sessions", scope="active")),
    row("recent", "list the recent ones", asking(action="list_sessions", scope="recent")),
    row("all", "list all, with the archived", asking(action="list_sessions", scope="all")),
    row("read", "read one", asking(action="read_session")),
    row("create", "start one more", creating),
    row("search", "find a title", asking(action="list_sessions", scope="all", query="number 99999")),
)
