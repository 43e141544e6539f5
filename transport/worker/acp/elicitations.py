"""What an agent asks its user, as a card, and what became of the card as the agent's answer. Pure."""

from typing import Any

from showcaller.actors.contract.agent_messages import AnswerCard, CardAsked, CardOption
from showcaller.transport.worker.acp.permissions import (
    DETAIL_LIMIT,
    LABEL_LIMIT,
    MOST_OPTIONS,
    QUESTION_LIMIT,
    choices_in,
    shortened,
)

DECLINE, CANCEL = {"action": "decline"}, {"action": "cancel"}
YES_OR_NO = (CardOption(id="true", label="Yes"), CardOption(id="false", label="No"))
DONE = CardOption(id="done", label="Done")


def question_card(request: dict[str, Any], session: str, turn: str, card: str) -> CardAsked:
    """Give the card of a request as it has come, which was checked before.

    A form of one field is a plain question: a choice, several, yes or no, or free text. Any other is a form
    with its schema; an address to visit is a question with that as its detail.
    """
    question = shortened(str(request["message"]), QUESTION_LIMIT)
    asked = CardAsked(session=session, turn=turn, card=card, card_kind="ask_user", question=question)
    if request.get("mode") == "url":
        url = shortened(str(request["url"]), DETAIL_LIMIT)
        return asked.model_copy(update={"detail": url, "options": (DONE,)})
    schema = request.get("requestedSchema") or {}
    field = _only_field(schema)
    if field is None:
        return asked.model_copy(update={"form": schema})
    name, rules = field
    options, several = _options(rules)
    told = shortened(str(rules.get("description") or rules.get("title") or name), DETAIL_LIMIT)
    plain = {"detail": told, "options": options, "multi_select": several, "allow_freeform": not options}
    return asked.model_copy(update=plain)


def user_answer(request: dict[str, Any], card: CardAsked, answer: AnswerCard) -> dict[str, Any]:
    """Give what the agent is told: what the user has said, that he would not, or that nobody has."""
    if answer.outcome == "dismissed":
        return DECLINE
    if answer.outcome != "answered":
        return CANCEL
    if request.get("mode") == "url":
        return {"action": "accept"}
    if card.form is not None:
        return CANCEL if answer.values is None else {"action": "accept", "content": answer.values}
    field = _only_field(request.get("requestedSchema") or {})
    value = None if field is None else _value(field[1], card, answer)
    return CANCEL if field is None or value is None else {"action": "accept", "content": {field[0]: value}}


def _only_field(schema: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Give the one field of a form that is a plain question."""
    fields = schema.get("properties") or {}
    if len(fields) != 1:
        return None
    name, rules = next(iter(fields.items()))
    plain = rules.get("type") == "boolean" or (rules.get("type") == "string" and not rules.get("format"))
    return (name, rules) if plain or (rules.get("type") == "array" and _options(rules)[0]) else None


def _options(rules: dict[str, Any]) -> tuple[tuple[CardOption, ...], bool]:
    """Give the choices of a field, and whether there may be several."""
    if rules.get("type") == "boolean":
        return YES_OR_NO, False
    several = rules.get("type") == "array"
    holder = (rules.get("items") or {}) if several else rules
    titled = holder.get("oneOf") or holder.get("anyOf")
    if titled:
        named = [
            (str(each["const"]), str(each.get("title") or each["const"]))
            for each in titled
            if "const" in each
        ]
    else:
        named = [(str(each), str(each)) for each in holder.get("enum") or ()]
    options = tuple(
        CardOption(id=shortened(value, DETAIL_LIMIT), label=shortened(title, LABEL_LIMIT))
        for value, title in named[:MOST_OPTIONS]
    )
    return options, several


def _value(rules: dict[str, Any], card: CardAsked, answer: AnswerCard) -> Any:
    """Give the value of a field; None when the answer holds none."""
    if not card.options:
        return answer.text
    chosen = choices_in(card.options, answer.choices)
    if card.multi_select:
        return chosen
    if not chosen:
        return None
    return chosen[0] == "true" if rules.get("type") == "boolean" else chosen[0]
