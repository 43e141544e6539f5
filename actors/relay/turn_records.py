"""A turn's message as the store keeps it and as a worker gets it, and its end as the store takes it: pure."""

import json
from typing import Any

from showcaller.actors.contract.worker import RunTurn, TurnEnded
from showcaller.actors.relay.turn_signals import Waiting


def waiting_message(row: dict[str, Any]) -> Waiting:
    """Give a stored prompt as the queue holds it."""
    return Waiting(
        id=row["id"],
        text=row["text"],
        origin=row["origin"],
        item=row.get("item"),
        timeout=row.get("timeout"),
    )


def run_turn(session: dict[str, Any], message: Waiting) -> RunTurn:
    """Give what a worker needs to run a prompt of this session; the text is the sender's alone."""
    return RunTurn(
        session=session["id"],
        turn=message.id,
        provider=session["provider"],
        text=message.text,
        item=None if message.item is None else json.loads(message.item),
        has_item=message.item is not None,
        cwd=session.get("cwd"),
        environment={"SHOWCALLER_SESSION": session["id"], "SHOWCALLER_TURN": message.id},
        timeout=message.timeout,
    )


def end_arguments(end: TurnEnded, reply: str | None, at: int) -> dict[str, Any]:
    """Give the arguments of the store's ``end_turn``; ``reply`` is the id of the agent's message, if any."""
    text = {"id": reply, "text": end.reply, "truncated": end.truncated}
    return {
        "message": end.turn,
        "status": end.outcome,
        "stop_reason": end.stop_reason,
        "error_class": end.error_class,
        "error_text": end.error_text,
        "reply": None if reply is None else text,
        "exit_code": end.exit_code,
        "seconds": end.seconds,
        "at": at,
    }
