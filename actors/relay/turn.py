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
from showcaller.actors.relay.turn_signals import (
    Announce,
    AskAgainLater,
    CommitEnd,
    CommitHandOver,
    CommitTakeBack,
    Effect,
    EndRefused,
    EndStored,
    FoundHanded,
    GoOn,
    HandOverFailed,
    HandOverRefused,
    HandOverStored,
    Input,
    LookUp,
    SendRun,
    SendStop,
    Stop,
    Stored,
    StoreFailed,
    TakenBack,
    TryAgain,
    Waiting,
    WorkerEnded,
)

Phase = Literal["handing", "running", "stopping", "taking_back", "ending"]
Cut = Literal["stopped", "interrupted"]

RELEASING_ORIGINS = frozenset({"owner", "agent"})
"""Who lets a queue go on that a stop has held; wake-ups and schedules do not."""

LAST_TRIES = 3
"""How often a relay that closes asks the store for one and the same thing before it leaves it undone."""

CUT_TEXT = "cut while it ran, because the relay or its fan-out was stopped; it may have run in part"
UNSTORABLE = "the worker's end of this turn could not be stored as it was; the relay's log says why"


@dataclass(frozen=True, slots=True)
class Turn:
    """The turn under way.

    ``handing``: its hand-over is being committed; ``running``: the worker has it; ``stopping``: the
    worker was asked to end it; ``taking_back``: it was cut before any worker saw it, and that it waits
    again is being committed; ``ending``: its end is being committed. ``cut`` is set once its end was
    asked for: ``stopped`` by somebody, ``interrupted`` because the relay or a fan-out ends.
    """

    message: Waiting
    phase: Phase
    cut: Cut | None = None
    end: TurnEnded | None = None


@dataclass(frozen=True, slots=True)
class TurnState:
    """A session's queue in order of acceptance, and its turn.

    ``held``: a stop holds the queue; ``closing``: the relay ends, so nothing begins any more; ``stops``
    counts the stops so far; ``pausing``: the store refused something and a ``TryAgain`` is due;
    ``refusals``: how often in a row it refused.
    """

    session: str
    queue: tuple[Waiting, ...] = ()
    turn: Turn | None = None
    held: bool = False
    closing: bool = False
    stops: int = 0
    pausing: bool = False
    refusals: int = 0

    def is_turn(self, message: str, *phases: Phase) -> bool:
        """Tell whether this message's turn is under way, in one of these phases if any are given."""
        turn = self.turn
        return turn is not None and turn.message.id == message and (not phases or turn.phase in phases)

    def is_queued(self, message: str) -> bool:
        """Tell whether this message waits for its turn."""
        return any(waiting.id == message for waiting in self.queue)


class Step(NamedTuple):
    """The next state, and what to do, in order."""

    state: TurnState
    effects: tuple[Effect, ...] = ()


def step(state: TurnState, event: Input) -> Step:  # noqa: C901, PLR0912 - one line for each kind of input
    """Give what follows from one input; never raises for an input that comes late or twice."""
    match event:
        case Stored(message, stops):
            return _begin_next(_enqueue(state, message, stops))
        case FoundHanded(message):
            return _found_handed(state, message)
        case HandOverStored(message_id):
            return _handed(state, message_id)
        case HandOverFailed(message_id):
            return _hand_over_failed(state, message_id)
        case HandOverRefused(message_id):
            return _drop(state) if state.is_turn(message_id, "handing") else Step(state)
        case TakenBack(message_id, gone):
            return _taken_back(state, gone=gone) if state.is_turn(message_id, "taking_back") else Step(state)
        case WorkerEnded(end):
            known = state.is_turn(end.turn, "running", "stopping")
            return _end(state, end) if known else Step(state)
        case EndStored(message_id):
            return _end_stored(state) if state.is_turn(message_id, "ending") else Step(state)
        case EndRefused(message_id, faulty):
            return _end_refused(state, faulty=faulty) if state.is_turn(message_id, "ending") else Step(state)
        case StoreFailed(message_id):
            waits = state.is_turn(message_id, "ending", "taking_back")
            return _store_failed(state) if waits else Step(state)
        case Stop():
            return _stop(state, event)
        case GoOn():
            return _begin_next(replace(state, held=False))
        case TryAgain():
            return _try_again(state) if state.pausing else Step(state)


# -- the queue -------------------------------------------------------------------------------------


def _enqueue(state: TurnState, message: Waiting, stops: int) -> TurnState:
    """A second message during a turn waits its turn; one from a person or an agent lifts a stop's hold.

    It lifts the hold of a stop before it, not of one that came while it was being stored.
    """
    lifts = message.origin in RELEASING_ORIGINS and stops == state.stops
    return replace(state, queue=(*state.queue, message), held=state.held and not lifts)


def _begin_next(state: TurnState) -> Step:
    if state.turn is not None or not state.queue or state.held or state.closing or state.pausing:
        return Step(state)
    first, *rest = state.queue
    return Step(replace(state, queue=tuple(rest), turn=Turn(first, "handing")), (CommitHandOver(first),))


# -- handing over ----------------------------------------------------------------------------------


def _handed(state: TurnState, message: str) -> Step:
    turn = state.turn
    if turn is None or not state.is_turn(message, "handing"):
        return Step(state)
    state = replace(state, refusals=0)
    if turn.cut == "stopped":
        return _end(state, TurnEnded(session=state.session, turn=message, outcome="stopped"))
    if turn.cut == "interrupted":  # no worker has seen it, so it can simply wait again
        return Step(_with_turn(state, turn, phase="taking_back"), (CommitTakeBack(message),))
    return Step(_with_turn(state, turn, phase="running"), (SendRun(turn.message),))


def _hand_over_failed(state: TurnState, message: str) -> Step:
    turn = state.turn
    if turn is None or not state.is_turn(message, "handing"):
        return Step(state)
    waiting = replace(
        state,
        queue=(turn.message, *state.queue),
        turn=None,
        pausing=True,
        refusals=state.refusals + 1,
    )
    look_up = (LookUp(message),) if turn.cut == "interrupted" else ()
    return Step(waiting, (*look_up, AskAgainLater()))


def _taken_back(state: TurnState, *, gone: bool) -> Step:
    assert state.turn is not None
    message = state.turn.message
    queue = state.queue if gone else (message, *state.queue)
    return _after(replace(state, queue=queue, refusals=0), LookUp(message.id))


# -- ends ------------------------------------------------------------------------------------------


def _found_handed(state: TurnState, message: Waiting) -> Step:
    if state.turn is not None:
        return Step(state)
    cut = Turn(message, "stopping", cut="interrupted")
    ending = _end(replace(state, turn=cut), _stopped(state.session, message.id))
    return Step(ending.state, (SendStop(message.id), *ending.effects))


def _end(state: TurnState, end: TurnEnded) -> Step:
    assert state.turn is not None
    end = _as_cut(end, state.turn.cut)
    return Step(_with_turn(state, state.turn, phase="ending", end=end), (CommitEnd(end),))


def _stopped(session: str, message: str) -> TurnEnded:
    return TurnEnded(session=session, turn=message, outcome="stopped")


def _as_cut(end: TurnEnded, cut: Cut | None) -> TurnEnded:
    """A turn that was cut because the relay ends has not been stopped by anybody: it is interrupted."""
    if end.outcome == "stopped" and cut == "interrupted":
        told = {"outcome": "failed", "stop_reason": "interrupted", "error_text": CUT_TEXT}
        return end.model_copy(update=told)
    return end


def _end_stored(state: TurnState) -> Step:
    assert state.turn is not None
    assert state.turn.end is not None
    return _after(replace(state, refusals=0), Announce(state.turn.end))


def _end_refused(state: TurnState, *, faulty: bool) -> Step:
    """An end that the store cannot take is replaced by one that it can, so that the turn has its end."""
    turn = state.turn
    assert turn is not None
    assert turn.end is not None
    if not faulty or turn.end.error_text == UNSTORABLE:
        return _drop(state)
    plain = TurnEnded(
        session=state.session,
        turn=turn.message.id,
        outcome="failed",
        error_text=UNSTORABLE,
        stop_reason="died",
    )
    return Step(_with_turn(state, turn, end=plain), (CommitEnd(plain),))


def _store_failed(state: TurnState) -> Step:
    state = replace(state, refusals=state.refusals + 1)
    if state.closing and state.refusals >= LAST_TRIES:
        return _drop(state)
    return Step(replace(state, pausing=True), (AskAgainLater(),))


def _drop(state: TurnState) -> Step:
    """Let go of a turn that gets no end from here."""
    assert state.turn is not None
    return _after(state, LookUp(state.turn.message.id))


def _after(state: TurnState, effect: Effect) -> Step:
    """The turn is over: tell so, and begin the next."""
    following = _begin_next(replace(state, turn=None, pausing=False))
    return Step(following.state, (effect, *following.effects))


# -- stopping, and what the store refused ----------------------------------------------------------


def _stop(state: TurnState, stop: Stop) -> Step:
    turn = state.turn
    closing = stop.why == "closing"
    has_work = turn is not None or bool(state.queue) or stop.accepting
    state = replace(
        state,
        stops=state.stops + 1,
        closing=state.closing or closing,
        held=state.held or (has_work and not closing),
    )
    if turn is None or (stop.message is not None and turn.message.id != stop.message):
        return Step(state)
    cut: Cut = "stopped" if stop.why == "stopped" else "interrupted"
    if turn.phase == "running":
        return Step(_with_turn(state, turn, phase="stopping", cut=cut), (SendStop(turn.message.id),))
    if turn.phase == "handing":
        return Step(_with_turn(state, turn, cut=turn.cut or cut))
    if closing and state.pausing:  # no time for long pauses any more
        return _try_again(state)
    return Step(state)


def _try_again(state: TurnState) -> Step:
    state = replace(state, pausing=False)
    turn = state.turn
    if turn is not None and turn.phase == "ending" and turn.end is not None:
        return Step(state, (CommitEnd(turn.end),))
    if turn is not None and turn.phase == "taking_back":
        return Step(state, (CommitTakeBack(turn.message.id),))
    return _begin_next(state)


def _with_turn(state: TurnState, turn: Turn, **changes: Any) -> TurnState:
    return replace(state, turn=replace(turn, **changes))
