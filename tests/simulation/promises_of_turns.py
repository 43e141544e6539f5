"""What must hold of messages that joined a turn, and of background tasks: findings, in words."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.simulation.books import Books
from tests.simulation.stored import Row, Stored

# -- messages that joined a turn -------------------------------------------------------------------


def broken_joins(stored: Stored, books: Books) -> Iterator[str]:
    """A message that joined a turn ends as the turn, or as interrupted when its agent never said a word."""
    for row in stored.prompts:
        turn = stored.messages.get(row["steered_into"] or "")
        if row["steered_into"] is None:
            if row["status"] == "queued" and _is_taken(row, books):
                yield f"{row['id']} was taken into a turn, and waits for one of its own"
        elif turn is None or turn["session"] != row["session"] or turn["steered_into"] is not None:
            yield f"{row['id']} joined {row['steered_into']}, which is no turn of its session: {turn}"
        else:
            yield from _joined(row, turn, books)


def _is_taken(row: Row, books: Books) -> bool:
    steer = books.steers.get(row["id"])
    return steer is not None and steer.outcome == "taken"


def _joined(row: Row, turn: Row, books: Books) -> Iterator[str]:
    message, end = row["id"], (row["status"], row["stop_reason"])
    explained = {message, turn["id"]} & books.excused
    if (row["status"] == "handed") != (turn["status"] == "handed"):
        yield f"{message} is {row['status']}, and {turn['id']}, which it joined, is {turn['status']}"
    elif row["steer_taken"]:
        if not _is_taken(row, books):
            yield f"{message} is stored as taken by its agent, which has not said so"
        if end != (turn["status"], turn["stop_reason"]):
            yield f"{message} ended as {end}, and the turn that it joined was {turn}"
    elif row["status"] != "handed" and end != ("failed", "interrupted"):
        yield f"{message} ended as {end}, and its agent never acknowledged it"
    elif row["status"] != "handed" and not explained and not _was_silent(message, books):
        yield f"{message} is told as interrupted, and its agent said: {books.steers[message]}"


def _was_silent(message: str, books: Books) -> bool:
    """Whether nobody said in time what became of a message; the answer may be long on its way."""
    steer = books.steers.get(message)
    return steer is None or steer.outcome == "asked" or (books.is_slow and steer.turn in books.ends)


# -- background tasks ------------------------------------------------------------------------------


def broken_tasks(stored: Stored, books: Books, *, over: bool) -> Iterator[str]:
    """Every task has one beginning and one end, as its worker told them."""
    names = Counter((row["session"], row["worker_task"]) for row in stored.tasks)
    yield from (f"task {name} is stored {n} times" for name, n in names.items() if n > 1)
    events: defaultdict[str, list[str]] = defaultdict(list)
    for event in stored.events:
        if event["task"] is not None:
            events[event["task"]].append(event["kind"])
    for row in stored.tasks:
        yield from _task_as_told(row, books)
        yield from _task_events(row, events[row["id"]])
        if over and row["status"] == "running":
            yield f"task {row['id']} never got an end"
    missing = books.tasks.keys() - names.keys() - books.excused_tasks
    if over and missing:
        yield f"of the tasks {sorted(missing)} nothing is stored"


def _task_as_told(row: Row, books: Books) -> Iterator[str]:
    key = row["session"], row["worker_task"]
    end = books.task_ends.get(key)
    if key not in books.tasks:
        yield f"task {key} is stored, and no worker has told of it"
    elif row["status"] != "running" and key not in books.excused_tasks:
        told = None if end is None else end.outcome
        if row["status"] != told:
            yield f"task {key} is stored as {row['status']}, and its worker said {told}"
        elif end is not None and row["tail"] not in {None, end.output}:  # it is kept for a time
            yield f"task {key} has the output {row['tail']!r}, and its worker said {end.output!r}"


def _task_events(row: Row, kinds: list[str]) -> Iterator[str]:
    expected = ["task_started"]
    failed = row["status"] in {"failed", "interrupted"}
    if failed:
        expected.append("task_failed")
    if row["status"] != "running" and row["type"] == "agent":
        expected.append("subagent_finished")
    if row["status"] in {"done", "stopped"} and row["type"] != "agent":
        expected.append("task_finished")
    if kinds != expected:
        yield f"task {row['id']} ({row['type']}) is {row['status']} and its events are {kinds}"
