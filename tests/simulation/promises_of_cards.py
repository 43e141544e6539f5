"""What must hold of the cards that agents wait on: findings, in words."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from tests.simulation.books import Books
from tests.simulation.stored import Row, Stored

LIVES: Final = 8 * 60 * 60 * 1000  # milliseconds
LONGEST_TURN: Final = 60 * 60 * 1000


def broken_cards(stored: Stored, books: Books, *, over: bool) -> Iterator[str]:
    """Every card has one end, in the turn that asked; who answers and who asks hear of the same one."""
    of_agents = [row for row in stored.cards if row["kind"] != "approval"]
    names = Counter((row["session"], row["worker_card"]) for row in of_agents)
    yield from (f"card {name} is stored {n} times" for name, n in names.items() if n > 1)
    by_name = {(row["session"], row["worker_card"]): row for row in of_agents}
    by_id = {row["id"]: row for row in stored.cards}
    for row in stored.cards:
        if row["kind"] != "approval":
            yield from _as_asked(row, books)
        if row["status"] == "timed_out" and row["ended_at"] - row["created_at"] < LIVES:
            yield f"card {row['id']} has timed out too soon: {row}"
        if over and row["status"] == "pending":
            yield f"card {row['id']} never got an end"
    for key, heard in books.cards.heard.items():
        found = by_name.get(key)
        status = "withdrawn" if found is None else found["status"]
        if heard.outcome not in {status, "withdrawn"}:
            yield f"the agent of card {key} has heard that it is {heard.outcome}, and it is {found}"
    for card, told in books.cards.given.items():
        if card not in by_id or by_id[card]["status"] != told:
            yield f"card {card} was told to be {told}, and it is {by_id.get(card)}"
    yield from _events(stored)
    yield from _times(stored)


def _as_asked(row: Row, books: Books) -> Iterator[str]:
    asked = books.cards.asked.get((row["session"], row["worker_card"]))
    if asked is None:
        yield f"card {row['id']} is stored, and no agent has asked"
    elif row["message"] != asked.turn:
        yield f"card {row['id']} was asked in {asked.turn} and stands in {row['message']}"


def broken_consent(stored: Stored, books: Books) -> Iterator[str]:
    """Nothing of an agent is carried out, and nothing stands allowed, without an Allow of the owner.

    All sessions are commands, about which the owner is asked each time, but those of clients: about a prompt
    for such a one nobody is asked.
    """
    if not books.cards.asks_owner:
        return
    for row in stored.prompts:
        if row["origin"] != "agent" or stored.sessions[row["session"]]["provider"] == "external":
            continue
        if row["text"] and row["text"] not in books.cards.allowed:
            yield f"{row['id']} was sent by {row['caller']}, and nobody has allowed it: {row['text']}"
    unasked = books.cards.titles - books.cards.allowed
    called = [row for row in stored.sessions.values() if row["title"] in unasked]
    yield from (f"{row['id']} was called {row['title']}, and nobody has allowed it" for row in called)
    for row in stored.approvals:
        if row["card"] not in books.cards.allowed_on:
            yield f"it stands allowed in {row['conversation']}, and nobody has allowed it: {row}"
    for row in stored.cards:
        if row["kind"] == "approval" and row["status"] == "answered" and row["via"] != "owner":
            yield f"approval {row['id']} was answered by {row['via']}"


def _events(stored: Stored) -> Iterator[str]:
    told = Counter(event["message"] for event in stored.events if event["kind"] == "question_asked")
    asked = Counter(row["message"] for row in stored.cards)
    if told != asked:
        yield f"events tell of cards in {dict(told)}, and there were {dict(asked)}"


def _times(stored: Stored) -> Iterator[str]:
    """A turn that took too long did so beside the time on its cards."""
    for row in stored.prompts:
        if row["stop_reason"] != "timeout" or row["fanout"] is not None or row["steered_into"] is not None:
            continue
        took = row["ended_at"] - row["handed_at"] - _time_on_cards(stored, row["id"])
        if took < LONGEST_TURN:
            yield f"{row['id']} was stopped after {took} ms of its own: {row}"


def _time_on_cards(stored: Stored, turn: str) -> int:
    spans = sorted((row["created_at"], row["ended_at"]) for row in stored.cards if row["message"] == turn)
    waited, until = 0, 0
    for began, ended in spans:
        waited += max(0, ended - max(until, began))
        until = max(until, ended)
    return waited
