"""The moves of a session's state machine that more than one of its parts makes."""

from typing import Any, NamedTuple

from showcaller.actors.contract.worker import TurnEnded
from showcaller.actors.relay.turn_effects import (
    Announce,
    AskAgainLater,
    CommitContinuation,
    CommitEnd,
    CommitHandOver,
    Effect,
    LookUp,
)
from showcaller.actors.relay.turn_signals import Waiting
from showcaller.actors.relay.turn_state import Turn, TurnState, as_cut, joined_ends


class Step(NamedTuple):
    """The next state, and what to do, in order."""

    state: TurnState
    effects: tuple[Effect, ...] = ()


def with_turn(state: TurnState, turn: Turn, **changes: Any) -> TurnState:
    """Change the turn under way."""
    return state._replace(turn=turn._replace(**changes))


def begin_next(state: TurnState) -> Step:
    """Begin the next turn, if one may begin: the agent going on by itself comes before what waits."""
    if state.continuation is not None and state.may_begin:
        turn = Turn(state.continuation, "handing")
        return Step(state._replace(continuation=None, turn=turn), (CommitContinuation(turn.message),))
    position = state.position_of_next()
    if position is None:
        return Step(state)
    message = state.queue[position]
    turn = Turn(message, "handing", passed=position)
    return Step(state._replace(queue=without(state.queue, message), turn=turn), (CommitHandOver(message),))


def without(queue: tuple[Waiting, ...], message: Waiting) -> tuple[Waiting, ...]:
    """Give the queue with this message taken out."""
    return tuple(waiting for waiting in queue if waiting.id != message.id)


def put_back(state: TurnState, turn: Turn) -> TurnState:
    """Let the turn's message wait again in its place."""
    message = turn.message
    if message.continues:
        return state._replace(turn=None, continuation=message)
    queue = (*state.queue[: turn.passed], message, *state.queue[turn.passed :])
    return state._replace(turn=None, queue=queue)


def released(state: TurnState) -> TurnState:
    """Let the queue go on that a stop has held."""
    return state._replace(held=False, hold_unstored=False) if state.held else state


def end_turn(state: TurnState, end: TurnEnded) -> Step:
    """Have the turn's end committed, once it is settled whether a message joins it.

    A message may have crossed the end on its way: its agent has not seen it then, and its worker is about to
    say so. One that does not for a while, or is dead, is not waited for.
    """
    turn = state.turn
    assert turn is not None
    end = as_cut(end, turn.cut)
    was_ending = turn.phase == "ending"
    state = with_turn(state, turn, phase="ending", end=end)
    if turn.joining is None or turn.joining.with_end:
        return Step(state, (commit_end(turn, end),))
    if turn.joining.phase == "asked" and (was_ending or _is_cut_off(end)):
        return Step(state, (commit_end(turn, end),))
    if turn.joining.phase == "asked":
        return Step(state._replace(pausing=True), (AskAgainLater(),))
    return Step(state)


def commit_end(turn: Turn, end: TurnEnded) -> CommitEnd:
    """Give what commits this end of the turn."""
    return CommitEnd(end, None if turn.joining is None else turn.joining.untold)


def _is_cut_off(end: TurnEnded) -> bool:
    return end.outcome == "failed" and end.stop_reason == "interrupted"


def announce(state: TurnState) -> Step:
    """The end of the turn is stored: tell so of its message and of those that joined it."""
    turn = state.turn
    assert turn is not None
    assert turn.end is not None
    ends = (turn.end, *joined_ends(turn, turn.end))
    untold = None if turn.joining is None else turn.joining.untold
    silent = () if turn.joining is None or untold is not None else (turn.joining.message.id,)
    announced = tuple(Announce(end, end.turn not in silent) for end in ends)
    state = state._replace(refusals=0)
    if turn.joining is None or untold is None or untold.is_taken:
        return after(state, *announced)
    waits = state._replace(queue=(turn.joining.message, *state.queue))
    return after(waits, *announced, LookUp(untold.message))


def drop(state: TurnState) -> Step:
    """Let go of a turn that gets no end from here."""
    turn = state.turn
    assert turn is not None
    return after(state, *(LookUp(message.id) for message in (turn.message, *turn.steered)))


def after(state: TurnState, *effects: Effect) -> Step:
    """The turn is over, whether its message has its end or waits again: tell so, and begin the next."""
    turn = state.turn
    over = frozenset(() if turn is None else (turn.message.id,))
    following = begin_next(state._replace(turn=None, pausing=False, set_aside=state.set_aside - over))
    return Step(following.state, (*effects, *following.effects))
