"""Whether an answer is one that its card takes: pure."""

from collections.abc import Sequence
from typing import Any

from showcaller.actors.contract.agent_messages import CardOption
from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.relay.card_signals import Card, Ending

NOTHING = "Nothing was answered."


def answered(card: Card, choices: Sequence[str], text: str | None, via: str) -> Ending:
    """Give the end of a card that is answered so; raises ``Refusal`` when the card takes no such answer.

    ``choices`` are labels of its options, in any case, or their ids.
    """
    if card.form is not None:
        raise _refused(card, "is a form, which this version cannot fill in: it can be dismissed.")
    if not choices and text is None:
        raise _refused(card, f"needs {_what_it_takes(card)}.")
    if text is not None and not card.allow_freeform:
        raise _refused(card, f"takes no free text: {_what_it_takes(card)} answers it.")
    chosen = tuple(dict.fromkeys(_option(card, choice).id for choice in choices))
    if len(chosen) > 1 and not card.multi_select:
        raise _refused(card, f"takes one choice, and {len(chosen)} came.")
    return Ending("answered", chosen, text, via)


def _option(card: Card, choice: str) -> CardOption:
    wanted = choice.strip().casefold()
    found = [option for option in card.options if option.label.strip().casefold() == wanted]
    found = found or [option for option in card.options if option.id == choice]
    if len(found) == 1:
        return found[0]
    named = quote_foreign(choice, 80)
    if found:
        raise _refused(card, f"has {len(found)} options {named}: name one by its id.")
    raise _refused(card, f"has no option {named}: {_what_it_takes(card)} answers it.")


def _what_it_takes(card: Card) -> str:
    labels = [quote_foreign(option.label, 80) for option in card.options[:10]]
    more = [f"{len(card.options) - 10} more"] if len(card.options) > 10 else []
    own = ["a text of your own"] if card.allow_freeform else []
    how_many = "one or more of" if card.multi_select else "one of"
    choices = [f"{how_many} {', '.join([*labels, *more])}"] if labels else []
    return " or ".join([*choices, *own]) or "no answer, only to be dismissed"


def _refused(card: Card, why: str) -> Refusal:
    options: list[dict[str, Any]] = [{"id": option.id, "label": option.label} for option in card.options]
    return invalid(f"Question {card.id} {why} {NOTHING}", options=options)
