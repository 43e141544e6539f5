"""What a message or a worker's frame means for a session: the pure state machine of its turns.

``step(state, input)`` gives the next state and the effects that the session's actor carries out. Two
rules hold the whole machine together:

- An effect that must not happen twice (handing a prompt to an agent) follows the commit that says it
  will happen; the commit comes back as an input of its own.
- A turn has exactly one end. What a worker says about a turn that is not under way is ignored.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from showcaller.actors.contract.worker import TurnEnded

Phase = Literal["handing", "running", "stopping", "ending"]

RELEASING_ORIGINS = frozenset({"owner", "agent"})
"""Who lets a queue go on that a stop has held; wake-ups and schedules do not."""


class Waiting(NamedTuple):
    """A stored message that no turn has taken yet."""

    id: str
    text: str
    origin: str = "owner"
    item: Any = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """The turn under way.

    ``handing``: its hand-over is being committed; ``running``: the worker has it; ``stopping``: the
    worker was asked to end it; ``ending``: its end is being committed. ``stop`` is set once a stop was
    asked for: ``stopped`` by somebody, ``interrupted`` because the relay ends.
    """

    message: Waiting
    phase: Phase
    stop: Literal["stopped", "interrupted"] | None = None
    end: TurnEnded | None = None


@dataclass(frozen=True, slots=True)
class TurnState:
    """A session's queue in order of acceptance, its turn, and whether a stop holds the queue."""

    session: str
    queue: tuple[Waiting, ...] = ()
    turn: Turn | None = None
    held: bool = False


# -- inputs ----------------------------------------------------------------------------------------


class Stored(NamedTuple):
    """A message was accepted and committed."""

    message: Waiting


class HandOverStored(NamedTuple):
    """*Handed to the worker* is committed for this message."""

    message: str


class HandOverFailed(NamedTuple):
    """The hand-over could not be committed; the message waits on."""

    message: str


class HandOverRefused(NamedTuple):
    """The message is no longer in the queue, as the store has it: it was taken out."""

    message: str


class WorkerEnded(NamedTuple):
    """The worker says that the turn is over."""

    end: TurnEnded


class EndStored(NamedTuple):
    """The end of this message's turn is committed."""

    message: str


class EndFailed(NamedTuple):
    """The end of this message's turn could not be committed."""

    message: str


class Stop(NamedTuple):
    """Somebody stops the turn, or the relay ends (``interrupted``)."""

    interrupted: bool


class TryAgain(NamedTuple):
    """Time to repeat what the store refused."""


Input = (
    Stored
    | HandOverStored
    | HandOverFailed
    | HandOverRefused
    | WorkerEnded
    | EndStored
    | EndFailed
    | Stop
    | TryAgain
)

# -- effects ---------------------------------------------------------------------------------------


class CommitHandOver(NamedTuple):
    """Commit that this message goes to a worker."""

    message: Waiting


class SendRun(NamedTuple):
    """Send the prompt to the worker."""

    message: Waiting


class SendStop(NamedTuple):
    """Ask the worker to end this turn."""

    message: str


class CommitEnd(NamedTuple):
    """Commit the end of this message's turn."""

    end: TurnEnded


class Announce(NamedTuple):
    """Tell whoever waits for this message that it has its end."""

    end: TurnEnded


class AskAgainLater(NamedTuple):
    """Give the store some time and then a ``TryAgain``."""


Effect = CommitHandOver | SendRun | SendStop | CommitEnd | Announce | AskAgainLater


class Step(NamedTuple):
    """The next state, and what to do, in order."""

    state: TurnState
    effects: tuple[Effect, ...] = ()


def step(state: TurnState, event: Input) -> Step:
    """Give what follows from one input; never raises for an input that comes late or twice."""
    match event:
        case Stored(message):
            return _begin_next(_enqueue(state, message))
        case HandOverStored(message_id):
            return _handed(state, message_id)
        case HandOverFailed(message_id):
            return _hand_over_failed(state, message_id)
        case HandOverRefused(message_id):
            gone = _is_turn(state, message_id, "handing")
            return _begin_next(replace(state, turn=None)) if gone else Step(state)
        case WorkerEnded(end):
            return _ended(state, end)
        case EndStored(message_id):
            return _end_stored(state, message_id)
        case EndFailed(message_id):
            return Step(state, (AskAgainLater(),) if _is_turn(state, message_id, "ending") else ())
        case Stop(interrupted):
            return _stop(state, "interrupted" if interrupted else "stopped")
        case TryAgain():
            return _try_again(state)


def _enqueue(state: TurnState, message: Waiting) -> TurnState:
    """A second message during a turn waits its turn; one from a person or an agent lifts a stop's hold."""
    held = state.held and message.origin not in RELEASING_ORIGINS
    return replace(state, queue=(*state.queue, message), held=held)


def _begin_next(state: TurnState) -> Step:
    if state.turn is not None or state.held or not state.queue:
        return Step(state)
    first, *rest = state.queue
    return Step(replace(state, queue=tuple(rest), turn=Turn(first, "handing")), (CommitHandOver(first),))


def _handed(state: TurnState, message: str) -> Step:
    turn = state.turn
    if turn is None or not _is_turn(state, message, "handing"):
        return Step(state)
    if turn.stop is not None:  # stopped between the commit's start and its end: no worker has seen it
        return _ended(state, TurnEnded(session=state.session, turn=message, outcome="stopped"))
    return Step(replace(state, turn=replace(turn, phase="running")), (SendRun(turn.message),))


def _hand_over_failed(state: TurnState, message: str) -> Step:
    turn = state.turn
    if turn is None or not _is_turn(state, message, "handing"):
        return Step(state)
    waiting = replace(state, queue=(turn.message, *state.queue), turn=None, held=turn.stop is not None)
    return Step(waiting, (AskAgainLater(),))


def _ended(state: TurnState, end: TurnEnded) -> Step:
    turn = state.turn
    if turn is None or turn.message.id != end.turn or turn.phase == "ending":
        return Step(state)
    end = _as_stopped(end, turn.stop)
    ending = replace(turn, phase="ending", end=end)
    return Step(replace(state, turn=ending), (CommitEnd(end),))


def _as_stopped(end: TurnEnded, stop: str | None) -> TurnEnded:
    """A turn that was cut because the relay ends has not been stopped by anybody: it is interrupted."""
    if end.outcome == "stopped" and stop == "interrupted":
        return end.model_copy(
            update={
                "outcome": "failed",
                "stop_reason": "interrupted",
                "error_text": "the relay ended while this turn ran; it may have run in part",
            }
        )
    return end


def _end_stored(state: TurnState, message: str) -> Step:
    turn = state.turn
    if turn is None or turn.end is None or not _is_turn(state, message, "ending"):
        return Step(state)
    following = _begin_next(replace(state, turn=None, held=state.held or turn.stop is not None))
    return Step(following.state, (Announce(turn.end), *following.effects))


def _stop(state: TurnState, why: Literal["stopped", "interrupted"]) -> Step:
    turn = state.turn
    if turn is None or turn.phase == "ending":
        return Step(replace(state, held=state.held or why == "interrupted"))
    if turn.phase == "running":
        return Step(
            replace(state, turn=replace(turn, phase="stopping", stop=why)), (SendStop(turn.message.id),)
        )
    return Step(replace(state, turn=replace(turn, stop=turn.stop or why)))


def _try_again(state: TurnState) -> Step:
    turn = state.turn
    if turn is not None and turn.phase == "ending" and turn.end is not None:
        return Step(state, (CommitEnd(turn.end),))
    return _begin_next(state)


def _is_turn(state: TurnState, message: str, phase: Phase) -> bool:
    return state.turn is not None and state.turn.message.id == message and state.turn.phase == phase
