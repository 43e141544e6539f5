"""Cards as a relay finds them in the store when it takes up a turn that goes on: pure."""

from collections.abc import Sequence
from typing import Any, Final

from showcaller.actors.contract.agent_messages import CardOption
from showcaller.actors.relay.card_signals import Approval, BoundCall, Card, Ending
from showcaller.actors.relay.consent.table import Grants

NO_TURN: Final = ""
"""The turn of a conversation that no relay runs, as its cards have it: it goes on as long as they do."""
Found = tuple[Card, Ending | None, int | None]
"""A card, and if it has its end, that and when it was stored."""


def found_card(row: dict[str, Any]) -> Found:
    """Make a card of a row of the store, with its end and when that was, if it has one."""
    card = Card(
        id=row["id"],
        name=row["worker_card"] or row["id"],
        turn=row["message"] or NO_TURN,
        kind=row["kind"],
        question=row["question"],
        asked_at=row["created_at"],
        detail=row["detail"] or "",
        options=tuple(CardOption(**option) for option in row["options"]),
        multi_select=row["multi_select"],
        allow_freeform=row["allow_freeform"],
        form=row["form"],
        phase="open",
        approval=_approval(row) if row["kind"] == "approval" else None,
    )
    if row["status"] == "pending":
        return card, None, None
    given = row["answer"] or {}
    ending = Ending(row["status"], tuple(given.get("choices", ())), given.get("text"), row["via"])
    return card, ending, row["ended_at"]


def _approval(row: dict[str, Any]) -> Approval:
    """Give what the store has of an approval card; it is shared by no calls but those that it lists."""
    grants: dict[str, Any] = row["grants"] or {}
    calls = tuple(BoundCall(**call) for call in row["call"])
    return Approval(
        calls, Grants(tuple(grants.get("stands", ())), restarts_count=grants.get("restarts_count", False))
    )


def time_before(found: Sequence[Found]) -> tuple[int, int | None]:
    """Say how long the turn has waited, on however many cards at a time, and since when it does now."""
    since = min((card.asked_at for card, ending, _ in found if ending is None), default=None)
    waited, until = 0, 0
    for card, _, ended_at in found:  # oldest first
        if ended_at is not None:
            end = ended_at if since is None else min(ended_at, since)
            waited += max(0, end - max(until, card.asked_at))
            until = max(until, end)
    return waited, since
