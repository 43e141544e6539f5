"""What must hold between a relay's store and the books of those outside it: findings, in words.

The simulation and the crash tests share it. It reads the file with SQL of its own, not with the relay's
queries.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from showcaller.store.integrity import full_check
from tests.simulation.books import Books
from tests.simulation.promises_of_cards import broken_cards, broken_consent
from tests.simulation.promises_of_turns import broken_joins, broken_tasks
from tests.simulation.stored import Row, Stored

TURN_ENDED = ("done", "failed", "stopped")
END_EVENTS = ("turn_end", "error")
MOST_QUEUED = 100
MOST_AT_WORK = 4
LONGEST_TURN = 60 * 60 * 1000  # milliseconds


def broken_promises(
    path: Path, books: Books, *, over: bool = False, external: str | None = None
) -> list[str]:
    """Compare the store with the books; with ``over`` nothing may be left waiting or running.

    No worker says how the messages for an ``external`` conversation end.
    """
    stored = Stored(path)
    found = [*full_check(path), *_whole(stored, books), *_kept(stored, books), *_ordered(stored, books)]
    worked = [row for row in stored.prompts if row["session"] != external]
    found += [finding for row in worked for finding in _end_as_told(row, stored, books)]
    found += _at_work(stored)
    found += [*broken_joins(stored, books), *broken_tasks(stored, books, over=over)]
    found += [*broken_cards(stored, books, over=over), *broken_consent(stored, books)]
    if over:
        left = [row["id"] for row in stored.prompts if row["status"] in {"queued", "handed"}]
        found += [f"{message} never got an end: it is {stored.messages[message]}" for message in left]
    return found


def excuse_what_is_cut(path: Path, books: Books) -> None:
    """A relay has ended: what a worker may have had then may be told as interrupted."""
    stored = Stored(path)
    books.excused.update(row["id"] for row in stored.prompts if row["status"] == "handed")
    excuse_tasks(stored, books)


def excuse_what_joins(stored: Stored, books: Books) -> None:
    """A relay has ended: what an agent says then of a message on its way into a turn may not be heard."""
    books.excused.update(
        row["id"] for row in stored.prompts if row["status"] == "handed" and row["steered_into"] is not None
    )


def excuse_tasks(stored: Stored, books: Books) -> None:
    """Background tasks end with their worker or their relay."""
    over = {(row["session"], row["worker_task"]) for row in stored.tasks if row["status"] != "running"}
    books.excused_tasks.update(books.tasks.keys() - over)


# -- the store in itself ---------------------------------------------------------------------------


def _whole(stored: Stored, books: Books) -> Iterator[str]:
    yield from _outbox(stored)
    yield from _turns(stored)
    yield from _events(stored)
    yield from _replies(stored)
    counts = Counter(row["session"] for row in stored.messages.values())
    back = (
        {event["message"] for event in stored.events if event["kind"] == "turn_started"}
        | books.steers.keys()
        | books.back
    )
    queued = Counter(
        row["session"] for row in stored.prompts if row["status"] == "queued" and row["id"] not in back
    )
    yield from (f"{n} messages wait in {session}" for session, n in queued.items() if n > MOST_QUEUED)
    for session, row in stored.sessions.items():
        if row.get("deleted_at") is None and counts[session] != row["message_count"]:
            yield f"{session} counts {row['message_count']} messages and has {counts[session]}"


def _at_work(stored: Stored) -> Iterator[str]:
    """Of the sessions that one agent has started, no more are at work than may be."""
    working = {row["session"] for row in stored.prompts if row["status"] in {"queued", "handed"}}
    starters = Counter(stored.sessions[session]["created_by"] for session in sorted(working))
    for starter, count in starters.items():
        if starter is not None and count > MOST_AT_WORK:
            yield f"{count} sessions that {starter} has started are at work"


def _outbox(stored: Stored) -> Iterator[str]:
    listed = [row["key"] for row in stored.outbox if row["kind"] == "prompt"]
    queued = {row["id"] for row in stored.prompts if row["status"] == "queued"}
    yield from (f"the outbox lists {message} twice" for message, n in Counter(listed).items() if n > 1)
    yield from (f"{message} waits and is not in the outbox" for message in sorted(queued - set(listed)))
    yield from (f"{message} is in the outbox and does not wait" for message in sorted(set(listed) - queued))


def _turns(stored: Stored) -> Iterator[str]:
    running = Counter(
        row["session"]
        for row in stored.prompts
        if row["status"] == "handed" and row.get("steered_into") is None
    )
    yield from (f"{session} runs {n} turns" for session, n in running.items() if n > 1)
    for row in stored.prompts:
        if row["session"] not in stored.sessions:
            yield f"{row['id']} is of no session"
        if (row["ended_at"] is not None) != (row["status"] in {*TURN_ENDED, "cancelled"}):
            yield f"{row['id']} is {row['status']} and ended at {row['ended_at']}"


def _events(stored: Stored) -> Iterator[str]:
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for event in stored.events:
        if event["message"] is not None:
            kinds[event["message"]].append(event["kind"])
    for row in stored.prompts:
        told = [kind for kind in kinds[row["id"]] if kind in {"turn_started", *END_EVENTS}]
        ends = [kind for kind in told if kind in END_EVENTS]
        if row.get("steered_into") is not None:
            continue
        expected = "error" if row["status"] == "failed" else "turn_end"
        one_end = ends == ([expected] if row["status"] in TURN_ENDED else [])
        has_begun = "turn_started" in told or row["status"] not in {"handed", *TURN_ENDED}
        if not one_end or not has_begun:
            yield f"{row['id']} is {row['status']} and its events are {told}"
        elif ends and told[-1] != expected:
            yield f"{row['id']} began after its end: {told}"


def _replies(stored: Stored) -> Iterator[str]:
    replies = [row for row in stored.messages.values() if row["role"] == "agent"]
    many = Counter(row["reply_to"] for row in replies)
    yield from (f"{message} has {n} replies" for message, n in many.items() if n > 1)
    for row in replies:
        prompt = stored.messages.get(row["reply_to"])
        if prompt is None or prompt["session"] != row["session"] or prompt["status"] not in TURN_ENDED:
            yield f"the reply {row['id']} belongs to no ended turn of its session"


# -- the store and the books -----------------------------------------------------------------------


def _kept(stored: Stored, books: Books) -> Iterator[str]:
    for prompted in books.acknowledged.values():
        row = stored.messages.get(prompted.message)
        if row is None:
            yield f"{prompted.message} was acknowledged and is not in the store"
        elif (row["session"], row["text"]) != (prompted.session, stored.kept_text(prompted)):
            yield f"{prompted.message} was acknowledged as {prompted} and is stored as {row}"
    for row in stored.prompts:
        if row["text"] in books.refused:
            yield f"{row['id']} is stored though its caller was refused: {books.refused[row['text']]}"
    prompts = Counter(row["text"] for row in stored.prompts if row["fanout"] is None and row["text"])
    yield from (f"{text!r} is stored {n} times" for text, n in prompts.items() if n > 1)
    for message in books.runs:
        row = stored.messages.get(message)
        if row is None or row["status"] == "queued":
            yield f"{message} was handed to a worker and is not known to be: {row}"
    for message, (status, *_) in books.seen.items():
        if stored.messages[message]["status"] != status:
            yield f"{message} was told to be {status} and is {stored.messages[message]['status']}"


def _end_as_told(row: Row, stored: Stored, books: Books) -> Iterator[str]:
    """A turn's end in the store is the one that its worker told, or one that something explains."""
    message, status = row["id"], row["status"]
    told = books.ends.get(message)
    if status not in TURN_ENDED or row.get("steered_into") is not None:
        return
    if status == "failed" and row["stop_reason"] == "interrupted":
        never_ran = row["kind"] == "continuation" and message not in books.runs  # its relay closed
        if message not in books.excused and row["fanout"] not in books.cut_groups and not never_ran:
            yield f"{message} was interrupted, and nothing that happened explains it"
        return
    if told is None:
        if status != "stopped" or message in books.runs:
            yield f"{message} ended as {status} and no worker said so"
        return
    if stored.is_deleted(row["session"]) or (row["stop_reason"] == "timeout" and _took_too_long(row)):
        return
    reply = next((r["text"] for r in stored.messages.values() if r["reply_to"] == message), "")
    if (status, reply) != (told.outcome, told.reply):
        yield f"{message} ended as {status} {reply!r}, its worker said {told.outcome} {told.reply!r}"


def _took_too_long(row: Row) -> bool:
    took: int = row["ended_at"] - row["handed_at"]
    return took >= LONGEST_TURN


def _ordered(stored: Stored, books: Books) -> Iterator[str]:
    """Prompts of a session are accepted and handed over in the order in which they came."""
    positions = {row["id"]: row["position"] for row in stored.prompts}
    for session, turns in books.given_in.items():
        if any(row.get("fanout") is not None for row in stored.of(session)):
            continue  # what a fan-out has cut waits while others pass it
        by_itself = {row["id"] for row in stored.of(session) if row["kind"] == "continuation"}
        known = [turn for turn in turns if turn in positions and turn not in by_itself]
        for first, second in pairwise(known):
            if positions[first] > positions[second]:
                yield f"{session}: {first} was handed over before {second}, which was accepted earlier"
    for first, second in _in_sequence(books):
        if first in positions and second in positions and positions[first] > positions[second]:
            yield f"{first} was acknowledged before {second} was sent, and is stored after it"


def _in_sequence(books: Books) -> Iterable[tuple[str, str]]:
    by_session: defaultdict[str, list[Any]] = defaultdict(list)
    for prompted in books.acknowledged.values():
        by_session[prompted.session].append(prompted)
    for prompts in by_session.values():
        for one in prompts:
            yield from ((one.message, other.message) for other in prompts if one.answered <= other.begun)
