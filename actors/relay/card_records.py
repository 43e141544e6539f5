"""A card as the store keeps it, and as callers read it: pure."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from showcaller.actors.contract.views import PendingQuestion, Waiting
from showcaller.actors.relay.card_signals import Card, Ending
from showcaller.actors.relay.messages import WriteId

ANSWERABLE = frozenset({"permission", "ask_user"})
"""The kinds of cards that agents ask; approvals are ours, and no agent sees one."""


def open_arguments(session: str, card: Card) -> dict[str, Any]:
    """Give the arguments of the store's ``open_card``."""
    row = {
        "id": card.id,
        "session": session,
        "kind": card.kind,
        "message": card.turn,
        "question": card.question,
        "worker_card": card.name,
        "expires_at": card.expires_at,
        "options": json.dumps([_option(option) for option in card.options]),
        "multi_select": card.multi_select,
        "allow_freeform": card.allow_freeform,
        "form": None if card.form is None else json.dumps(card.form),
        "detail": card.detail or None,
    }
    return {"card": row, "at": card.asked_at}


def approval_arguments(session: str, card: Card) -> dict[str, Any]:
    """Give the arguments of the store's ``open_approval``."""
    assert card.approval is not None
    row = {
        "id": card.id,
        "session": session,
        "message": card.turn or None,
        "question": card.question,
        "expires_at": card.expires_at,
        "options": json.dumps([_option(option) for option in card.options]),
        "grants": json.dumps(card.approval.grants._asdict()),
        **_bound(card),
    }
    return {"card": row, "at": card.asked_at}


def binding_arguments(card: Card) -> dict[str, Any]:
    """Give the arguments of the store's ``change_approval``."""
    return {"card": card.id, **_bound(card)}


def _bound(card: Card) -> dict[str, Any]:
    assert card.approval is not None
    calls = [call._asdict() for call in card.approval.calls]
    return {"call": json.dumps(calls), "detail": card.detail or None}


def _option(option: Any) -> dict[str, str]:
    return {"id": option.id, "label": option.label, "kind": option.kind}


def end_arguments(card: str, ending: Ending, at: int, call: WriteId | None) -> dict[str, Any]:
    """Give the arguments of the store's ``end_card``; ``call`` is what somebody named the answer."""
    named = None
    if call is not None:
        named = {**call._asdict(), "result": {"card": card, "status": ending.outcome}}
    given = {"choices": list(ending.choices), "text": ending.text}
    return {
        "card": card,
        "status": ending.outcome,
        "answer": given if ending.outcome == "answered" else None,
        "via": ending.via,
        "at": at,
        "call": named,
    }


def waiting_of(kinds: Iterable[str]) -> Waiting | None:
    """Say what a session waits on, given the kinds of its cards; None when it waits on none."""
    there = set(kinds)
    if "approval" in there:
        return "approval"
    if "permission" in there:
        return "permission"
    return "question" if there else None


def pending_questions(rows: Iterable[Mapping[str, Any]]) -> tuple[PendingQuestion, ...]:
    """Give the questions among cards as callers read them; approvals are not shown."""
    return tuple(
        PendingQuestion(
            id=row["id"],
            kind=row["kind"],
            question=row["question"],
            options=tuple(option["label"] for option in row["options"]),
            multi_select=row["multi_select"],
            allow_freeform=row["allow_freeform"],
        )
        for row in rows
        if row["kind"] in ANSWERABLE
    )
