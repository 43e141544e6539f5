"""What a fan-out has the store keep for an item: session, prompt and result, as commands take them: pure."""

from typing import Any

from showcaller.actors.contract.fanout import FanoutSpec, Template, compact_json
from showcaller.actors.relay.fanout_items import Attempt, prompt_text, provider_of
from showcaller.actors.relay.fanout_steps import Record


def session_row(spec: FanoutSpec, attempt: Attempt, session: str, group: str, at: int) -> dict[str, Any]:
    """The session of an item."""
    return {
        "id": session,
        "title": attempt.title,
        "provider": provider_of(spec),
        "mode": "agent",
        "origin": "owner",
        "created_at": at,
        "cwd": spec.cwd,
        "group": group,
    }


def prompt_row(
    spec: FanoutSpec, template: Template, attempt: Attempt, message: str, at: int
) -> dict[str, Any]:
    """The prompt of an attempt at an item."""
    return {
        "id": message,
        "origin": "owner",
        "text": prompt_text(spec, template, attempt.item, attempt.number),
        "item": compact_json(attempt.item) if spec.kind == "callable" else None,
        "timeout": spec.timeout,
        "created_at": at,
    }


def record_arguments(group: str, attempt: Attempt, due: Record, at: int) -> dict[str, Any]:
    """The result of an item."""
    return {
        "group": group,
        "number": attempt.number,
        "status": due.status,
        "exit_code": due.exit_code,
        "reply": due.reply,
        "seconds": due.seconds,
        "error": due.error,
        "at": at,
    }
