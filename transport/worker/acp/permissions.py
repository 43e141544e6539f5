"""An agent's request for permission as a card, and what became of the card as the agent's answer. Pure."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from showcaller.actors.contract.agent_messages import AnswerCard, CardAsked, CardOption
from showcaller.transport.worker.text import bounded, valid

if TYPE_CHECKING:
    from acp import schema

QUESTION_LIMIT: Final = 2_000
DETAIL_LIMIT: Final = 10_000
LABEL_LIMIT: Final = 200
LONGEST_ID: Final = 1_000
MOST_OPTIONS: Final = 50


def card_of(request: "schema.RequestPermissionRequest", session: str, turn: str, card: str) -> CardAsked:
    """Give the card of a request; its detail is what the tool would get."""
    call = request.tool_call
    title = (call.title or "").strip() or f"use a tool ({call.kind or 'other'})"
    return CardAsked(
        session=session,
        turn=turn,
        card=card,
        card_kind="permission",
        question=shortened(title, QUESTION_LIMIT),
        detail=shortened(_written(call.raw_input), DETAIL_LIMIT),
        options=tuple(
            CardOption(
                id=valid(option.option_id), label=shortened(option.name, LABEL_LIMIT), kind=option.kind
            )
            for option in request.options[:MOST_OPTIONS]
            if len(option.option_id) <= LONGEST_ID
        ),
    )


def chosen_option(options: Sequence[CardOption], answer: AnswerCard) -> str | None:
    """Give the option that the agent is told; None tells it that its turn was cancelled.

    A card that was dismissed, or that nobody answered, is a no: never a yes, and never the end of all.
    """
    if answer.outcome == "withdrawn":
        return None
    if answer.outcome == "answered":
        chosen = choices_in(options, answer.choices)
        if chosen:
            return chosen[0]
    rejecting = [option.id for option in options if option.kind == "reject_once"]
    return rejecting[0] if rejecting else None


def choices_in(options: Sequence[CardOption], choices: Sequence[str]) -> list[str]:
    """Give the ids of those choices that there are, named by id, or by label without case."""
    by_id = {option.id: option.id for option in options}
    by_label = {option.label.casefold(): option.id for option in options}
    found = [by_id.get(choice) or by_label.get(choice.casefold()) for choice in choices]
    return [choice for choice in found if choice is not None]


def shortened(text: str, limit: int) -> str:
    """Give a text that any border takes, cut in the middle to about so many characters."""
    return bounded(valid(text), limit * 3 // 4, limit // 4)[0]


def _written(raw_input: Any) -> str:
    if raw_input is None:
        return ""
    if isinstance(raw_input, dict) and isinstance(raw_input.get("command"), str):
        return str(raw_input["command"])
    return json.dumps(raw_input, ensure_ascii=False, indent=1, default=str)
