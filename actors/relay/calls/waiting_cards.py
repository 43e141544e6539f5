"""What a session waits on, for who waits for its reply."""

from typing import NamedTuple

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.views import PendingQuestion
from showcaller.actors.relay.calls.background import glance_at
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.card_records import pending_questions
from showcaller.actors.relay.messages import Glance
from showcaller.actors.runtime import ActorDeadError


class Cards(NamedTuple):
    """The cards that a turn waits on; approvals are only counted, nobody but the owner sees them."""

    questions: tuple[PendingQuestion, ...]
    approvals: int


class CardsSeen(NamedTuple):
    """A turn that may wait on cards, looked at: it has gone on without any, or is over by now."""

    glance: Glance
    cards: Cards | None
    goes_on: bool
    is_over: bool


async def look_at_cards(context: CallContext, session: str, seen: Glance) -> CardsSeen:
    """Look once more at a turn that may wait on cards."""
    rows: list[Row] = await context.read("pending_cards", session=session)
    of_turn = [row for row in rows if row["message"] == seen.turn] if context.ports.relay_runs() else []
    questions = pending_questions(of_turn)
    cards = Cards(questions, len(of_turn) - len(questions)) if of_turn else None
    try:
        glance = await glance_at(context, session)
    except (Refusal, ActorDeadError):  # nothing goes on here any more: it is as the store has it
        return CardsSeen(seen, cards, goes_on=False, is_over=False)
    if glance is None or glance.turn != seen.turn:
        return CardsSeen(seen, cards, goes_on=False, is_over=True)
    return CardsSeen(glance, cards, goes_on=not glance.asks, is_over=False)
