"""A turn's message as the store keeps it and as a worker gets it, and its end as the store takes it: pure."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from showcaller.actors.contract import limits
from showcaller.actors.contract.agent_messages import AgentSpec
from showcaller.actors.contract.provider_entries import ProviderCatalogue
from showcaller.actors.contract.worker import FixedCommand, RunTurn, TurnEnded
from showcaller.actors.relay import turn_effects
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.messages import Prompt
from showcaller.actors.relay.turn_arrivals import releases
from showcaller.actors.relay.turn_signals import Waiting
from showcaller.actors.relay.watch_messages import WakeUp
from showcaller.store.interruptions import INTERRUPTED


class StoreCommand(NamedTuple):
    """A command of the store by name, and what it takes."""

    name: str
    arguments: dict[str, Any]


OF_A_TURN = ("model", "effort", "item", "timeout", "fanout")
"""What a prompt may name that only a turn of its own can give it."""

TurnCommit = (
    turn_effects.CommitHandOver
    | turn_effects.CommitContinuation
    | turn_effects.CommitTakeBack
    | turn_effects.CommitFailure
    | turn_effects.CommitSteer
    | turn_effects.CommitTaken
    | turn_effects.CommitUnsteer
    | turn_effects.CommitEnd
)


class TurnCommand(NamedTuple):
    """A command about a message by name, that message, and what else the command takes."""

    name: str
    message: str
    more: dict[str, Any]

    @property
    def arguments(self) -> dict[str, Any]:
        """What the command takes."""
        return {"message": self.message, **self.more}


def prompt_command(
    prompt: Prompt,
    session: str,
    new_session: dict[str, Any] | None,
    hand_over: dict[str, Any] | None,
    *,
    is_busy: bool,
) -> StoreCommand:
    """Give what stores a prompt: with ``new_session`` that as well; an item's as an attempt at the item.

    With ``hand_over``, a worker and the time, it goes to that worker at once. ``is_busy``: take no further
    message, though the store, which knows, may find that it was sent before.
    """
    message = prompt.row if new_session is not None else {**prompt.row, "session": session}
    arguments: dict[str, Any] = {"message": message}
    if hand_over is not None:
        arguments["hand_over"] = hand_over
    if new_session is not None:
        arguments["session"] = new_session
    else:
        arguments["queue_limit"] = 0 if is_busy else limits.QUEUED_MESSAGES
    if prompt.item is not None:
        arguments |= {"group": prompt.item.group, "number": prompt.item.number}
        return StoreCommand("start_item" if new_session is not None else "retry_item", arguments)
    if prompt.unasked_limit is not None:
        arguments["unasked_limit"] = prompt.unasked_limit
    if new_session is not None:
        return StoreCommand("create_session", arguments)
    return StoreCommand("accept_message", {**arguments, "releases": releases(prompt.row["origin"])})


def wake_command(wake: WakeUp, session: str, hand_over: dict[str, Any] | None) -> StoreCommand:
    """Give what stores what has left for a session that watches: in a message, or with one that waits."""
    row = wake.prompt.row
    wakeup: dict[str, Any] = {"events": wake.events}
    if wake.extends is not None:
        wakeup |= {"extends": wake.extends, "text": row["text"]}
    else:
        wakeup |= {
            "message": {**row, "session": session},
            "queue_limit": limits.QUEUED_MESSAGES,
            "hand_over": hand_over,
        }
    at = row["created_at"]
    return StoreCommand("advance_watcher", {"watcher": session, "at": at, "wakeup": wakeup, **wake.keeps})


def turn_command(effect: TurnCommit, session: str, worker: str, at: int, reply: str | None) -> TurnCommand:
    """Give the command that commits what the state machine wants committed about a message.

    ``reply`` is the id of the agent's message when a turn ends with one.
    """
    match effect:
        case turn_effects.CommitEnd(end, untold):
            told = end_arguments(end, reply, at) | {"untold": None if untold is None else untold._asdict()}
            return TurnCommand("end_turn", end.turn, told)
        case turn_effects.CommitFailure(end):
            return TurnCommand("end_queued", end.turn, {"error_text": end.error_text, "at": at})
        case turn_effects.CommitHandOver(message):
            return TurnCommand("hand_over", message.id, {"worker": worker, "at": at})
        case turn_effects.CommitContinuation(message):
            row = {"id": message.id, "session": session, "origin": "task", "text": "", "created_at": at}
            return TurnCommand("begin_continuation", message.id, {"message": row, "worker": worker, "at": at})
        case turn_effects.CommitSteer(message, turn):
            return TurnCommand("steer_message", message.id, {"turn": turn, "worker": worker, "at": at})
        case turn_effects.CommitTakeBack(message_id):
            return TurnCommand("take_back", message_id, {})
        case turn_effects.CommitTaken(message_id):
            return TurnCommand("steer_taken", message_id, {})
        case turn_effects.CommitUnsteer(message_id):
            return TurnCommand("unsteer_message", message_id, {})


_STORED: dict[str, Callable[[str], signals.Input]] = {
    "hand_over": signals.HandOverStored,
    "begin_continuation": signals.HandOverStored,
    "take_back": signals.TakenBack,
    "end_queued": signals.FailureStored,
    "steer_message": signals.SteerStored,
    "steer_taken": signals.SteerTaken,
    "unsteer_message": signals.Unsteered,
    "end_turn": signals.EndStored,
}
_FAILED: dict[str, Callable[[str], signals.Input]] = {
    "hand_over": signals.HandOverFailed,
    "begin_continuation": signals.HandOverFailed,
    "steer_message": signals.SteerFailed,
}
_REFUSED: dict[str, Callable[[str, bool], signals.Input]] = {
    "hand_over": signals.HandOverRefused,
    "begin_continuation": signals.HandOverRefused,
    "take_back": signals.TakeBackRefused,
    "end_queued": lambda message, _: signals.FailureRefused(message),
    "steer_message": lambda message, faulty: _not_steered(message, faulty=faulty),
    "steer_taken": signals.JoiningRefused,
    "unsteer_message": signals.JoiningRefused,
    "end_turn": signals.EndRefused,
}


def _not_steered(message: str, *, faulty: bool) -> signals.Input:
    return signals.SteerFailed(message) if faulty else signals.SteerRefused(message)


def signal_of(command: str, message: str, error: str | None) -> signals.Input:
    """Give what the store's answer to a command about a turn means for it; ``error`` is as in ``Answer``."""
    if error is None:
        return _STORED[command](message)
    if error == "storage":
        return _FAILED.get(command, signals.StoreFailed)(message)
    return _REFUSED[command](message, error == "fault")


def waiting_message(row: dict[str, Any]) -> Waiting:
    """Give a stored prompt as the queue holds it."""
    return Waiting(
        id=row["id"],
        text=row["text"],
        origin=row["origin"],
        item=row.get("item"),
        timeout=row.get("timeout"),
        is_attempt=row.get("fanout") is not None,
        continues=row.get("kind") == "continuation",
        mode=row.get("mode"),
        via=row.get("via"),
        model=row.get("model"),
        effort=row.get("effort"),
    )


def new_continuation(message: str) -> Waiting:
    """Give the message of a turn in which the agent goes on by itself; nobody has written it."""
    return Waiting(id=message, text="", origin="task", continues=True)


def may_join_a_turn(
    row: dict[str, Any], session: dict[str, Any], mode: str | None, known: ProviderCatalogue
) -> bool:
    """Tell whether a prompt can join a turn that runs in this ``mode``.

    The session's provider can, and the prompt names nothing for a turn of its own, nor runs in another mode.
    """
    entry = known.find(session["provider"])
    named = any(row.get(name) is not None for name in OF_A_TURN)
    is_alike = mode is None or (row.get("mode") or session["mode"]) == mode
    return entry is not None and entry.steers and is_alike and not named


def run_turn(
    session: dict[str, Any],
    message: Waiting,
    worker: str,
    besides: Mapping[str, str],
    agent: AgentSpec | None = None,
    command: FixedCommand | None = None,
) -> RunTurn:
    """Give what this worker needs to run a prompt of this session; the text is the sender's alone.

    ``besides`` is what the agent process finds in its environment beside what is told of the turn; ``agent``
    is how that is run, where it is one that speaks the Agent Client Protocol, and ``command`` what gets the
    text as its input, where that is no command line.

    An attempt of a fan-out leaves nothing running: its result is all that anybody sees of it.
    """
    return RunTurn(
        session=session["id"],
        turn=message.id,
        provider=session["provider"],
        text=message.text,
        item=None if message.item is None else json.loads(message.item),
        has_item=message.item is not None,
        cwd=session.get("cwd"),
        environment={**turn_variables(session, message), **besides},
        timeout=message.timeout,
        continues=message.continues,
        background=not message.is_attempt,
        agent=agent,
        command=command,
        worker=worker,
    )


def turn_variables(session: dict[str, Any], message: Waiting) -> dict[str, str]:
    """Give what the relay tells a turn's work beside the sender's text, as variables of its environment.

    ``SHOWCALLER_VIA`` is there when an agent has sent the prompt: JSON about it, as it is stored.
    """
    told = {
        "SHOWCALLER_SESSION": session["id"],
        "SHOWCALLER_TURN": message.id,
        "SHOWCALLER_MODE": message.mode or session["mode"],
        "SHOWCALLER_ORIGIN": message.origin,
    }
    return told if message.via is None else {**told, "SHOWCALLER_VIA": message.via}


def found_signals(
    row: dict[str, Any], joined: list[dict[str, Any]], *, at_worker: bool
) -> list[signals.Input]:
    """Give what a message means that the store has as unfinished, with those that ``joined`` its turn."""
    message = waiting_message(row)
    if row["status"] == "queued":
        return [signals.FoundWaiting(message)]
    steered = [signals.FoundSteered(waiting_message(other), other["steer_taken"]) for other in joined]
    return [signals.FoundHanded(message, at_worker=at_worker), *steered]


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
        "activity": end.activity,
    }


def cut_end(session: str, message: str) -> TurnEnded:
    """Give the end of a turn that was under way when its relay ended."""
    return TurnEnded(
        session=session,
        turn=message,
        outcome="failed",
        stop_reason="interrupted",
        error_text=INTERRUPTED,
    )
