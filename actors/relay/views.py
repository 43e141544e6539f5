"""From the store's rows to what callers read: pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.limits import PROGRESS_CHARACTERS, REPLY_CHARACTERS
from showcaller.actors.contract.provider_entries import EXTERNAL
from showcaller.actors.contract.results import GivenMessage, Progress, Reply
from showcaller.actors.contract.views import (
    GroupMember,
    GroupPlace,
    InFlight,
    LastTurn,
    MessageRow,
    SessionRow,
    State,
)
from showcaller.actors.relay.card_records import waiting_of
from showcaller.actors.relay.messages import Glance, TurnOver
from showcaller.store.interruptions import INTERRUPTED

Fitted = tuple[str, bool]
Reason = TypeVar("Reason", bound=str)


def as_cut(row: dict[str, Any]) -> dict[str, Any]:
    """A session's row as the next start of its relay will leave it, for readers while no relay runs."""
    if row["running"] is None:
        return {**row, "tasks": [], "waits_on": []}
    cut = {"message": row["running"], "status": "failed", "stop_reason": "interrupted", "ended_at": None}
    return {**row, "running": None, "last_turn": cut, "tasks": [], "waits_on": []}


def turn_seconds(measured: float | None) -> float | None:
    """How long a turn ran, to the millisecond, in every door the same; None for one that nobody measured."""
    return max(0.001, round(measured, 3)) if measured else None


def task_as_cut(row: dict[str, Any]) -> dict[str, Any]:
    """A task's row as the next start of its relay will leave it, for readers while no relay runs."""
    return row if row["ended_at"] is not None else {**row, "status": "interrupted"}


def message_as_cut(row: dict[str, Any]) -> dict[str, Any]:
    """A message's row as the next start of its relay will leave it, for readers while no relay runs."""
    if row["status"] != "handed":
        return row
    return {**row, "status": "failed", "stop_reason": "interrupted", "error_text": INTERRUPTED}


def session_view(row: dict[str, Any], caller: str | None = None) -> SessionRow:
    """A session as lists and readings show it to ``caller``, an agent's session or None for the owner."""
    return SessionRow(
        id=row["id"],
        title=row["title"],
        provider=row["provider"],
        model=row["model"],
        cwd=row["cwd"],
        state=state_of(row),
        waiting=waiting_of(row["waits_on"]),
        queued=row["queued"],
        last_turn=last_turn_of(row["last_turn"]),
        process="none" if state_of(row) == "idle" or row["provider"] == EXTERNAL else "alive",
        last_activity_at=row["last_activity_at"],
        message_count=row["message_count"],
        group=group_place(row),
        created_by=row["created_by"] or row["origin"],
        started_by_you=caller is not None and row["created_by"] == caller,
        may_create_sessions=True if row["may_create_sessions"] else None,
        agent_session_id=row["agent_session_id"],
        archived=True if row["archived_at"] is not None else None,
    )


def state_of(row: Mapping[str, Any]) -> State:
    """The state of a session whose row tells what runs there."""
    if row["running"] is not None or row.get("calls"):
        return "running_turn"
    return "background_only" if row["tasks"] else "idle"


def last_turn_of(last: Mapping[str, Any] | None) -> LastTurn | None:
    """The word for how a session's last turn ended."""
    if last is None:
        return None
    if last["stop_reason"] == "interrupted":
        return "interrupted"
    status: LastTurn = last["status"]
    return status


def stop_reason_of(status: str | None, stop_reason: Reason | None) -> Reason | None:
    """Give what refines the end of a turn with this ``status``: that of a stopped one has no finer word."""
    return None if status == "stopped" else stop_reason


def group_place(row: dict[str, Any]) -> GroupPlace | None:
    """The group that a session's row names, and its place there."""
    if row["group"] is None:
        return None
    role: Any = "head" if row["group_head"] == row["id"] else "member"
    return GroupPlace(id=row["group"], name=row["group_name"] or row["group"], role=role)


def group_member(row: dict[str, Any], head: str | None, *, calls: bool = False) -> GroupMember:
    """Another session of a group whose head is ``head``, as ``read_session`` names it.

    ``calls``: a call of it is under way, which is an external conversation's turn.
    """
    role: Any = "head" if row["id"] == head else "member"
    has_turn = row["has_turn"] or calls
    state: State = "running_turn" if has_turn else "background_only" if row["has_tasks"] else "idle"
    return GroupMember(
        id=row["id"],
        title=row["title"],
        role=role,
        state=state,
        archived=row["archived_at"] is not None,
    )


def message_views(rows: Sequence[dict[str, Any]], max_chars: int) -> tuple[MessageRow, ...]:
    """Messages in the order of ``rows``, oldest first; ``max_chars`` serves the newest texts first.

    What is left of it serves what the agent did, where the rows tell that: the newest lines.
    """
    texts = fit((row["text"] for row in reversed(rows)), max_chars)
    left = max_chars - sum(len(text) for text, _ in texts)
    activities = fit_lines([row.get("activity") for row in reversed(rows)], left)
    return tuple(
        MessageRow(
            id=row["id"],
            role="user" if row["role"] == "user" else "assistant",
            at=row["created_at"],
            kind=row["kind"],
            text=text,
            via=via_text(row["via"]),
            truncated=True if cut or row["truncated"] else None,
            activity=activity,
        )
        for row, (text, cut), activity in zip(rows, reversed(texts), reversed(activities), strict=True)
    )


def given_message(row: dict[str, Any]) -> GivenMessage:
    """A message as the client of an external conversation gets it, whole."""
    return GivenMessage(
        id=row["id"], at=row["created_at"], origin=row["origin"], via=via_text(row["via"]), text=row["text"]
    )


def via_text(stored: str | None) -> str | None:
    """Say to people which agent has sent a prompt, if one has."""
    return None if stored is None else f"agent · {quote_foreign(json.loads(stored)['title'], 80)}"


def fit(texts: Iterable[str], budget: int) -> list[Fitted]:
    """Fit texts into a number of characters, in the order given; each is whole, or cut and marked so."""
    fitted: list[Fitted] = []
    for text in texts:
        shown = cut_middle(text, budget)
        budget -= len(shown)
        fitted.append((shown, shown is not text))
    return fitted


def fit_lines(activities: Sequence[Sequence[str] | None], budget: int) -> list[tuple[str, ...] | None]:
    """Fit lines into a number of characters, those first that come first, of each the last ones."""
    fitted: list[tuple[str, ...] | None] = []
    for lines in activities:
        shown: list[str] = []
        for line in reversed(lines or ()):
            budget -= len(line)
            if budget < 0:
                break
            shown.append(line)
        fitted.append(tuple(reversed(shown)) if lines is not None else None)
    return fitted


def cut_middle(text: str, longest: int) -> str:
    """Keep head and tail of a text that is too long, with a mark between; the same object when it fits."""
    if len(text) <= longest:
        return text
    mark = f"\n… {len(text) - longest} characters left out …\n"
    room = longest - len(mark)
    if room < 2:
        return text[: max(0, longest)]
    head = room // 2
    return text[:head] + mark + text[len(text) - (room - head) :]


def in_flight_view(glance: Glance | None, row: dict[str, Any] | None) -> InFlight | None:
    """The reply that is being written, when a turn runs; ``row`` is the row of its message."""
    if glance is None or row is None or row["id"] != glance.turn or row["handed_at"] is None:
        return None
    last = glance.activity[-1] if glance.activity else None
    return InFlight(message_id=row["id"], started_at=row["handed_at"], text=glance.text, last_activity=last)


def reply_view(over: TurnOver) -> Reply | None:
    """The reply of an ended turn, at most 8,000 characters of it."""
    if over.reply is None:
        return None
    text = cut_middle(over.end.reply, REPLY_CHARACTERS)
    was_cut = over.end.truncated or text is not over.end.reply
    return Reply(text=text, own_message_id=over.reply, truncated=was_cut)


def progress_view(glance: Glance) -> Progress:
    """How far a running turn is."""
    return Progress(status="running", text=glance.text[-PROGRESS_CHARACTERS:], activity=glance.activity)
