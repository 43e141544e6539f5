"""What a message or a worker's frame means for a session: the pure state machine of its turns.

``step(state, input)`` gives the next state and the effects that the session's actor carries out. Two
rules hold the whole machine together:

- An effect that must not happen twice (handing a prompt to an agent) follows the commit that says it
  will happen; the commit comes back as an input of its own.
- A turn has exactly one end. What a worker says about a turn that is not under way is ignored.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from showcaller.actors.contract.worker import TurnEnded
from showcaller.actors.relay.turn_signals import (
    Announce,
    AskAgainLater,
    Cancelled,
    CancelRefused,
    CommitCancel,
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
    TakeBackRefused,
    TakenBack,
    TryAgain,
    Waiting,
    WorkerEnded,
)
from showcaller.actors.relay.turn_state import (
    UNHANDED,
    UNRETURNED,
    UNSTORABLE,
    Cut,
    Turn,
    TurnState,
    as_cut,
    failed_end,
    stopped_end,
)

RELEASING_ORIGINS = frozenset({"owner", "agent"})
"""Who lets a queue go on that a stop has held; wake-ups and schedules do not."""

LAST_TRIES = 3
"""How often a relay that closes asks the store for one and the same thing before it leaves it undone."""


class Step(NamedTuple):
    """The next state, and what to do, in order."""

    state: TurnState
    effects: tuple[Effect, ...] = ()


def step(state: TurnState, event: Input) -> Step:  # noqa: C901, PLR0912 - one line for each kind of input
    """Give what follows from one input; never raises for an input that comes late or twice."""
    match event:
        case Stored(message, stops):
            return _begin_next(_enqueue(state, message, stops))
        case FoundHanded(message, at_worker):
            return _found_handed(state, message, at_worker=at_worker)
        case HandOverStored(message_id):
            return _handed(state, message_id)
        case HandOverFailed(message_id):
            return _hand_over_failed(state, message_id)
        case HandOverRefused(message_id, faulty):
            known = state.is_turn(message_id, "handing")
            return _hand_over_refused(state, faulty=faulty) if known else Step(state)
        case TakenBack(message_id):
            return _taken_back(state) if state.is_turn(message_id, "taking_back") else Step(state)
        case TakeBackRefused(message_id, faulty):
            known = state.is_turn(message_id, "taking_back")
            return _take_back_refused(state, faulty=faulty) if known else Step(state)
        case Cancelled(message_id):
            return _announced(state) if state.is_turn(message_id, "cancelling") else Step(state)
        case CancelRefused(message_id):
            return _drop(state) if state.is_turn(message_id, "cancelling") else Step(state)
        case WorkerEnded(end):
            known = state.is_turn(end.turn, "running", "stopping")
            return _end(state, end) if known else Step(state)
        case EndStored(message_id):
            return _announced(state) if state.is_turn(message_id, "ending") else Step(state)
        case EndRefused(message_id, faulty):
            return _end_refused(state, faulty=faulty) if state.is_turn(message_id, "ending") else Step(state)
        case StoreFailed(message_id):
            waits = state.is_turn(message_id, "ending", "taking_back", "cancelling")
            return _store_failed(state) if waits else Step(state)
        case Stop():
            return _stop(state, event)
        case GoOn():
            return _begin_next(replace(state, held=False, set_aside=frozenset()))
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
    position = state.position_of_next()
    if position is None:
        return Step(state)
    message = state.queue[position]
    rest = (*state.queue[:position], *state.queue[position + 1 :])
    turn = Turn(message, "handing", passed=position)
    return Step(replace(state, queue=rest, turn=turn), (CommitHandOver(message),))


def _requeued(state: TurnState, turn: Turn) -> tuple[Waiting, ...]:
    """The queue with the turn's message back in its place."""
    return (*state.queue[: turn.passed], turn.message, *state.queue[turn.passed :])


# -- handing over ----------------------------------------------------------------------------------


def _handed(state: TurnState, message: str) -> Step:
    turn = state.turn
    if turn is None or not state.is_turn(message, "handing"):
        return Step(state)
    state = replace(state, refusals=0)
    if turn.cut == "stopped":
        return _end(state, stopped_end(state.session, message))
    if turn.cut == "interrupted":  # no worker has seen it, so it can simply wait again
        return Step(_with_turn(state, turn, phase="taking_back"), (CommitTakeBack(message),))
    return Step(_with_turn(state, turn, phase="running"), (SendRun(turn.message),))


def _hand_over_failed(state: TurnState, message: str) -> Step:
    turn = state.turn
    if turn is None or not state.is_turn(message, "handing"):
        return Step(state)
    waiting = replace(
        state,
        queue=_requeued(state, turn),
        turn=None,
        pausing=True,
        refusals=state.refusals + 1,
    )
    look_up = (LookUp(message),) if turn.cut == "interrupted" else ()
    return Step(waiting, (*look_up, AskAgainLater()))


def _hand_over_refused(state: TurnState, *, faulty: bool) -> Step:
    """A message that can never be handed over is taken out, so that those behind it get their turn."""
    turn = state.turn
    assert turn is not None
    if not faulty:
        return _drop(state)
    end = failed_end(state.session, turn.message.id, UNHANDED)
    return Step(_with_turn(state, turn, phase="cancelling", end=end), (CommitCancel(turn.message.id),))


def _taken_back(state: TurnState) -> Step:
    turn = state.turn
    assert turn is not None
    return _after(replace(state, queue=_requeued(state, turn), refusals=0), LookUp(turn.message.id))


def _take_back_refused(state: TurnState, *, faulty: bool) -> Step:
    """What cannot wait again, though no worker has seen it, is interrupted: the store has it as handed."""
    assert state.turn is not None
    if not faulty:
        return _drop(state)
    return _end(state, failed_end(state.session, state.turn.message.id, UNRETURNED, "interrupted"))


# -- ends ------------------------------------------------------------------------------------------


def _found_handed(state: TurnState, message: Waiting, *, at_worker: bool) -> Step:
    if state.turn is not None:
        return Step(state)
    if at_worker:
        return Step(replace(state, turn=Turn(message, "running")))
    cut = Turn(message, "stopping", cut="interrupted")
    ending = _end(replace(state, turn=cut), stopped_end(state.session, message.id))
    return Step(ending.state, (SendStop(message.id), *ending.effects))


def _end(state: TurnState, end: TurnEnded) -> Step:
    assert state.turn is not None
    end = as_cut(end, state.turn.cut)
    return Step(_with_turn(state, state.turn, phase="ending", end=end), (CommitEnd(end),))


def _announced(state: TurnState) -> Step:
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
    plain = failed_end(state.session, turn.message.id, UNSTORABLE)
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
    assert state.turn is not None
    over = state.turn.message.id
    aside = state.set_aside if state.is_queued(over) else state.set_aside - {over}
    following = _begin_next(replace(state, turn=None, pausing=False, set_aside=aside))
    return Step(following.state, (effect, *following.effects))


# -- stopping, and what the store refused ----------------------------------------------------------


def _stop(state: TurnState, stop: Stop) -> Step:
    cut: Cut = "stopped" if stop.why == "stopped" else "interrupted"
    if stop.message is not None:
        state = replace(state, set_aside=state.set_aside | {stop.message})
        return _cut_turn(state, cut) if state.is_turn(stop.message) else Step(state)
    closing = stop.why == "closing"
    has_work = state.turn is not None or bool(state.queue) or stop.accepting
    state = replace(
        state,
        stops=state.stops + 1,
        closing=state.closing or closing,
        held=state.held or (has_work and not closing),
    )
    if closing and state.pausing and state.turn is not None:  # no time for long pauses any more
        return _try_again(state)
    return _cut_turn(state, cut)


def _cut_turn(state: TurnState, cut: Cut) -> Step:
    turn = state.turn
    if turn is not None and turn.phase == "running":
        return Step(_with_turn(state, turn, phase="stopping", cut=cut), (SendStop(turn.message.id),))
    if turn is not None and turn.phase == "handing":
        return Step(_with_turn(state, turn, cut=turn.cut or cut))
    return Step(state)


def _try_again(state: TurnState) -> Step:
    state = replace(state, pausing=False)
    turn = state.turn
    if turn is not None and turn.phase == "ending" and turn.end is not None:
        return Step(state, (CommitEnd(turn.end),))
    if turn is not None and turn.phase == "taking_back":
        return Step(state, (CommitTakeBack(turn.message.id),))
    if turn is not None and turn.phase == "cancelling":
        return Step(state, (CommitCancel(turn.message.id),))
    return _begin_next(state)


def _with_turn(state: TurnState, turn: Turn, **changes: Any) -> TurnState:
    return replace(state, turn=replace(turn, **changes))
