"""One crash: a real process that ends at a failpoint, the next ones, and what must hold after each."""

import json
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from threading import Lock

from showcaller.store.database import open_for_writing
from showcaller.store.errors import WriterGone
from tests.crash.failpoints import EXIT, Failpoints
from tests.crash.journal import Journal, read_books, unanswered_calls
from tests.crash.relay import Known, finish, open_real, work
from tests.crash.writer import PLANT, planted
from tests.simulation.books import Broken
from tests.simulation.promises import broken_promises
from tests.simulation.runs import empty_store
from tests.simulation.stored import Stored

NOT_STARTED = 98
KILLED = (EXIT, NOT_STARTED, -9)
SECONDS = 100.0
_GATE = Lock()
_PROCESSES = get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.crash.runs"])


def begin(home: str, armed: list[str]) -> None:
    """In a process of its own: open a relay, do everything once, and close it."""
    points = Failpoints(Path(home), planted(armed))
    with _refusing_to_start(), open_real(Path(home), armed, points, patient=True) as relay:
        work(relay, Path(home))
    _note_counts(Path(home), points)


def go_on(home: str, armed: list[str]) -> None:
    """In a process of its own: open the relay after a crash, and see everything to its end."""
    points = Failpoints(Path(home), planted(armed))
    known = _known(Path(home))
    with _refusing_to_start(), open_real(Path(home), armed, points, patient=False) as relay:
        finish(relay, known)
    _note_counts(Path(home), points)


@contextmanager
def _refusing_to_start() -> Generator[None]:
    """A writer that ends before it has opened the store keeps the relay from starting, which says so."""
    try:
        yield
    except WriterGone:
        sys.exit(NOT_STARTED)


def _note_counts(home: Path, points: Failpoints) -> None:
    (home / "counts").write_text(json.dumps(points.counts))


def _known(home: Path) -> Known:
    crashes = len(list(home.glob("fired *")))
    database = home / "relay.db"
    if not database.exists() or database.stat().st_size == 0:
        return Known([], [], False, unanswered_calls(home / "journal"), crashes)
    open_for_writing(database).close()  # what the dead writer left in the log is taken in
    stored = Stored(database)
    messages = [(row["session"], row["id"]) for row in stored.prompts if row["fanout"] is None]
    sessions = [session for session, _ in messages]
    return Known(sessions, messages, bool(stored.items), unanswered_calls(home / "journal"), crashes)


def crash(home: Path, *armed: str) -> list[str]:
    """Run until the first failpoint, then again until the next, and so on; gives what is broken at the end.

    Every process but the last may end at one of ``armed``.
    """
    (home / "relay.db").write_bytes(empty_store().read_bytes())
    code = _run(begin, home, armed)
    found: list[str] = []
    for _ in armed:
        if code in KILLED:
            found += _after_a_death(home)
            code = _run(go_on, home, armed)
    if code != 0:
        return [*found, f"the last process ended with {code}"]
    found += _after_a_death(home)
    code = _run(go_on, home, tuple(text for text in armed if text.startswith(PLANT)))
    if code != 0:
        found.append(f"the process that was to see all to its end ended with {code}")
    return [*found, *_broken(home, over=True), *_items_left(home)]


def _broken(home: Path, *, over: bool) -> list[str]:
    try:
        return broken_promises(home / "relay.db", read_books(home / "journal"), over=over)
    except Broken as broken:
        return [str(broken)]


def counts(home: Path) -> Counter[str]:
    """Count how often each failpoint is passed when nothing is armed."""
    assert _run(begin, home, ()) == 0
    found = Counter[str](json.loads((home / "counts").read_text()))
    for line in (home / "writer counts").read_text().splitlines():
        name, count = line.split()
        found[name] = int(count)
    return found


def _run(target: object, home: Path, armed: tuple[str, ...]) -> int | None:
    process = _PROCESSES.Process(target=target, args=(str(home), list(armed)))  # type: ignore[arg-type]
    # Every start looks for the ends of all processes; two threads that read one exit code get it once.
    with _GATE:
        process.start()
    is_over = wait([process.sentinel], SECONDS)
    with _GATE:
        if not is_over:
            process.kill()
        process.join()
    return process.exitcode if is_over else None


def _after_a_death(home: Path) -> list[str]:
    """What is broken now; what a worker may have had when the relay ended may be told as interrupted."""
    journal = Journal(home / "journal")
    database = home / "relay.db"
    if database.exists() and database.stat().st_size:
        open_for_writing(database).close()
        stored = Stored(database)
        journal.note("cut", turns=[row["id"] for row in stored.prompts if row["status"] == "handed"])
    journal.close()
    return _broken(home, over=False)


def _items_left(home: Path) -> list[str]:
    return [
        f"item {row['number']} has no result"
        for row in Stored(home / "relay.db").items
        if row["status"] is None
    ]
