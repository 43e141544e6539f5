"""Inputs of a session's state machine that come late or twice."""

from typing import Any

from showcaller.actors.contract.worker import TurnEnded
from showcaller.actors.relay import turn_effects
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.turn_state import Phase

SESSION = "ses_000000000001"
FAULTS = (
    turn_effects.CommitHandOver,
    turn_effects.CommitContinuation,
    turn_effects.CommitTakeBack,
    turn_effects.CommitTaken,
    turn_effects.CommitUnsteer,
    turn_effects.CommitSteer,
    turn_effects.CommitEnd,
)
"""The commands that may turn out to be mistakes of ours."""


def ended(message: str, outcome: Any = "done", **more: Any) -> TurnEnded:
    """Give the end of a turn."""
    return TurnEnded(session=SESSION, turn=message, outcome=outcome, **more)


def late_inputs(message: str) -> list[signals.Input]:
    """Give what could be said of a message that is no part of the turn under way."""
    return [
        signals.NotStored(message),
        signals.WorkerEnded(ended(message)),
        signals.EndStored(message),
        signals.HandOverStored(message),
        signals.HandOverRefused(message),
        signals.TakenBack(message),
        signals.FailureStored(message),
        signals.SteerStored(message),
        signals.SteerTaken(message),
        signals.Unsteered(message),
        signals.Steered(message, "msg_other", accepted=False),
        signals.JoiningRefused(message, faulty=True),
        signals.StoreFailed(message),
        signals.TimeUp(message),
    ]


def past_inputs(message: str, phase: Phase) -> list[signals.Input]:
    """Give what could be said again about the turn under way, of phases that are past."""
    early: dict[str, list[signals.Input]] = {
        "handing": [signals.WorkerEnded(ended(message)), signals.EndStored(message)],
        "running": [signals.HandOverStored(message), signals.HandOverFailed(message)],
        "stopping": [signals.HandOverStored(message), signals.TimeUp(message)],
        "failing": [signals.HandOverStored(message), signals.HandOverRefused(message, faulty=True)],
        "taking_back": [signals.HandOverStored(message), signals.WorkerEnded(ended(message))],
        "ending": [signals.WorkerEnded(ended(message)), signals.HandOverStored(message)],
    }
    return early[phase]
