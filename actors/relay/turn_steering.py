"""When a message joins the turn under way instead of waiting for one of its own: pure.

One message at a time is on its way into the turn, so that the order of acceptance is kept whatever the
agent says; those that came after it and may join follow once it has. Before the turn's end is committed, it
is settled what becomes of that message, also when it has crossed the end on its way: only one that the agent
may have seen without anybody saying so goes down with the turn. While the agent waits on a card nothing
joins; what came meanwhile does when it goes on.
"""

from typing import Any

from showcaller.actors.relay.turn_effects import (
    AskAgainLater,
    CommitSteer,
    CommitTakeBack,
    CommitTaken,
    CommitUnsteer,
    LookUp,
    SendSteer,
)
from showcaller.actors.relay.turn_moves import Step, end_turn, with_turn, without
from showcaller.actors.relay.turn_signals import Stored
from showcaller.actors.relay.turn_state import (
    WORKER_GONE,
    Joining,
    JoiningPhase,
    Turn,
    TurnState,
    failed_end,
)

LAST_TRIES = 3
"""How often a relay that closes asks the store for one and the same thing before it leaves it undone."""


def arrived(state: TurnState, event: Stored) -> Step:
    """Let a message that was just queued join the turn, or follow those that will."""
    turn = state.turn
    if turn is None or not event.steers or not _may_join(state, turn):
        return Step(state)
    return _next_joins(with_turn(state, turn, may_join=turn.may_join | {event.message.id}))


def asks(state: TurnState, *, waits: bool) -> Step:
    """Take nothing more into the turn while its agent waits on a card; go on with that after it."""
    turn = state.turn
    assert turn is not None
    changed = with_turn(state, turn, asks=waits)
    return Step(changed) if waits else _next_joins(changed)


def _may_join(state: TurnState, turn: Turn) -> bool:
    return turn.phase == "running" and not (state.held or state.closing or state.pausing)


def _takes_more(state: TurnState, turn: Turn) -> bool:
    return _may_join(state, turn) and not turn.asks


def _next_joins(state: TurnState) -> Step:
    """Take the first of the queue into the turn if it may join: it does not pass what may not."""
    turn = state.turn
    if turn is None or turn.joining is not None or not state.queue or not _takes_more(state, turn):
        return Step(state)
    message = state.queue[0]
    if message.id not in turn.may_join:
        return Step(state)
    state = state._replace(queue=without(state.queue, message))
    joining = with_turn(state, turn, joining=Joining(message, "storing"))
    return Step(joining, (CommitSteer(message, turn.message.id),))


def stored(state: TurnState, message: str) -> Step:
    """Show the message to the agent, unless it asks itself by now, or the turn's end was asked for."""
    turn = state.turn
    if turn is None or turn.joining is None or not turn.is_joining(message, "storing"):
        return Step(state)
    if turn.phase != "running" or turn.asks:
        return Step(_joining(state, turn, "returning"), (CommitUnsteer(message),))
    return Step(_joining(state, turn, "asked"), (SendSteer(turn.joining.message, turn.message.id),))


def steered(state: TurnState, message: str, *, accepted: bool) -> Step:
    """Keep what the agent says; one that takes no message is not asked again within this turn."""
    turn = state.turn
    if turn is None or not turn.is_joining(message, "asked"):
        return Step(state)
    if turn.phase == "ending" and not state.pausing:
        return Step(state)  # the end is being stored, and the message with it
    state = state._replace(pausing=False)
    if accepted:
        return Step(_joining(state, turn, "taking"), (CommitTaken(message),))
    return Step(_joining(state, turn, "returning", may_join=frozenset()), (CommitUnsteer(message),))


def taken(state: TurnState, message: str) -> Step:
    """The message is part of the turn; the next may follow."""
    turn = state.turn
    if turn is None or turn.joining is None or not turn.is_joining(message, "taking"):
        return Step(state)
    joined = (*turn.joined, turn.joining.message)
    return _settled(with_turn(state._replace(refusals=0), turn, joining=None, joined=joined))


def waits_again(state: TurnState, message: str) -> Step:
    """The message did not join: it is the first that waits, and no other passes it."""
    turn = state.turn
    if turn is None or turn.joining is None or not turn.is_joining(message, "storing", "returning"):
        return Step(state)
    state = state._replace(queue=(turn.joining.message, *state.queue), refusals=0)
    return _settled(with_turn(state, turn, joining=None, may_join=frozenset()))


def gone(state: TurnState, message: str) -> Step:
    """The message waits no more, as the store has it."""
    turn = state.turn
    if turn is None or not turn.is_joining(message, "storing", "returning"):
        return Step(state)
    following = _settled(with_turn(state, turn, joining=None))
    return Step(following.state, (LookUp(message), *following.effects))


def refused(state: TurnState, message: str, *, faulty: bool) -> Step:
    """The store will never take what became of the message: it has it as unacknowledged, and so have we."""
    turn = state.turn
    if turn is None or not turn.is_joining(message, "taking", "returning"):
        return Step(state)
    if not faulty and turn.is_joining(message, "returning"):
        return gone(state, message)
    return _left_unacknowledged(state, turn)


def returned(state: TurnState) -> Step:
    """No agent has had the turn: once what was to join it waits again, so does its own message."""
    turn = state.turn
    assert turn is not None
    if turn.joining is None:
        return _settled(state)
    if turn.joining.phase == "asked":
        return Step(_joining(state, turn, "returning"), (CommitUnsteer(turn.joining.message.id),))
    return Step(state)


def store_failed(state: TurnState) -> Step:
    """Try again after a pause; a relay that closes does not try for ever."""
    turn = state.turn
    assert turn is not None
    state = state._replace(refusals=state.refusals + 1)
    if state.closing and state.refusals >= LAST_TRIES:
        assert turn.joining is not None
        untold = turn.joining._replace(with_end=True)
        return _settled(with_turn(state._replace(refusals=0), turn, joining=untold))
    return Step(state._replace(pausing=True), (AskAgainLater(),))


def try_again(state: TurnState, turn: Turn) -> Step | None:
    """Repeat what the store refused; None when nothing of this is to be repeated."""
    if turn.joining is None or turn.joining.with_end:
        return None
    message = turn.joining.message.id
    if turn.joining.phase == "taking":
        return Step(state, (CommitTaken(message),))
    if turn.joining.phase == "returning":
        return Step(state, (CommitUnsteer(message),))
    return None


def _left_unacknowledged(state: TurnState, turn: Turn) -> Step:
    return _settled(_joining(state, turn, "asked"))


def _settled(state: TurnState) -> Step:
    """Go on with the turn's end, if that has waited for this; else with the next that may join."""
    turn = state.turn
    assert turn is not None
    state = state._replace(pausing=False)
    if turn.phase == "ending" and turn.end is not None:
        return end_turn(state, turn.end)
    if turn.phase == "returned" and turn.joining is None:
        return Step(with_turn(state, turn, phase="taking_back"), (CommitTakeBack(turn.message.id),))
    if turn.phase == "returned":
        assert turn.joining is not None
        end = failed_end(state.session, turn.message.id, WORKER_GONE, "interrupted")
        if turn.joining.with_end:
            return end_turn(state, end)
        return end_turn(with_turn(state, turn, joining=None, joined=turn.steered), end)
    return _next_joins(state)


def _joining(state: TurnState, turn: Turn, phase: JoiningPhase, **changes: Any) -> TurnState:
    assert turn.joining is not None
    return with_turn(state, turn, joining=turn.joining._replace(phase=phase), **changes)
