"""What a session waits on, for who waits for its reply."""

from typing import NamedTuple

from showcaller.actors.contract.views import PendingQuestion
from showcaller.actors.relay.calls.background import glance_at
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.card_records import pending_questions
from showcaller.actors.relay.messages import Glance


class Cards(NamedTuple):
    """The cards that a turn waits on; approvals are only counted, nobody but the owner sees them."""

    questions: tuple[PendingQuestion, ...]
    approvals: int


async def cards_of(context: CallContext, session: str, seen: Glance) -> tuple[Glance, Cards | None]:
    """Look once more at a turn that may wait on cards; gives how it stands, and its cards if it does."""
    rows: list[Row] = await context.read("pending_cards", session=session)
    glance = await glance_at(context, session)
    if glance is None or glance.turn != seen.turn:
        glance = seen
    of_turn = [row for row in rows if row["message"] == seen.turn]
    if not of_turn or not context.ports.relay_runs():
        return glance, None
    questions = pending_questions(of_turn)
    return glance, Cards(questions, len(of_turn) - len(questions))
