"""A turn's message as the store keeps it and as a worker gets it, and its end as the store takes it: pure."""

import json
from typing import Any, NamedTuple

from showcaller.actors.contract import limits
from showcaller.actors.contract.worker import RunTurn, TurnEnded
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.messages import Prompt
from showcaller.actors.relay.turn_signals import Waiting


class StoreCommand(NamedTuple):
    """A command of the store by name, and what it takes."""

    name: str
    arguments: dict[str, Any]


def prompt_command(
    prompt: Prompt, session: str, new_session: dict[str, Any] | None, *, is_busy: bool
) -> StoreCommand:
    """Give what stores a prompt: with ``new_session`` that as well; an item's as an attempt at the item.

    ``is_busy``: take no further message, though the store, which knows, may find that it was sent before.
    """
    message = prompt.row if new_session is not None else {**prompt.row, "session": session}
    arguments: dict[str, Any] = {"message": message}
    if new_session is not None:
        arguments["session"] = new_session
    else:
        arguments["queue_limit"] = 0 if is_busy else limits.QUEUED_MESSAGES
    if prompt.item is not None:
        arguments |= {"group": prompt.item.group, "number": prompt.item.number}
        return StoreCommand("start_item" if new_session is not None else "retry_item", arguments)
    return StoreCommand("create_session" if new_session is not None else "accept_message", arguments)


def signal_of(command: str, message: str, error: str | None) -> signals.Input:
    """Give what the store's answer to a command about a turn means for it; ``error`` is as in ``Answer``."""
    faulty = error == "fault"
    match command, error:
        case "hand_over", None:
            return signals.HandOverStored(message)
        case "hand_over", "storage":
            return signals.HandOverFailed(message)
        case "hand_over", _:
            return signals.HandOverRefused(message, faulty)
        case _, "storage":
            return signals.StoreFailed(message)
        case "take_back", None:
            return signals.TakenBack(message)
        case "take_back", _:
            return signals.TakeBackRefused(message, faulty)
        case "cancel_message", None:
            return signals.Cancelled(message)
        case "cancel_message", _:
            return signals.CancelRefused(message)
        case _, None:
            return signals.EndStored(message)
        case _:
            return signals.EndRefused(message, faulty)


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


def cut_end(session: str, message: str) -> TurnEnded:
    """Give the end of a turn that was under way when its relay ended."""
    return TurnEnded(
        session=session,
        turn=message,
        outcome="failed",
        stop_reason="interrupted",
        error_text="the relay ended while this turn ran; it may have run in part",
    )
