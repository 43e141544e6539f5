"""What a message that arrives means for a session: its turn begins at once, or it waits, or joins one: pure.

One that comes to a session with nothing to do is stored with its hand-over in one transaction, because that
is known beforehand: until its commit is back no other turn begins.
"""

from showcaller.actors.relay import turn_steering as steering
from showcaller.actors.relay.turn_effects import CommitTakeBack, SendRun
from showcaller.actors.relay.turn_moves import Step, begin_next, released
from showcaller.actors.relay.turn_signals import Arrives, Extended, NotStored, Stored, Waiting
from showcaller.actors.relay.turn_state import Cut, Turn, TurnState

RELEASING_ORIGINS = frozenset({"owner", "agent"})
"""Who lets a queue go on that a stop has held; wake-ups, schedules and policies do not."""


def releases(origin: str) -> bool:
    """Tell whether a message of this origin lets a queue go on that a stop has held."""
    return origin in RELEASING_ORIGINS


def step(state: TurnState, event: Arrives | Stored | NotStored | Extended) -> Step:
    """Give what follows from a message that is being stored, is stored or extended, or will not be."""
    match event:
        case Arrives(message):
            return Step(state._replace(arriving=message) if state.is_free else state)
        case Stored(message):
            return _stored(_arrived(state, message.id), event)
        case NotStored(message):
            return begin_next(_arrived(state, message))
        case Extended(message, text):
            return Step(_extended(state, message, text))


def _extended(state: TurnState, message: str, text: str) -> TurnState:
    """Give a message its new text, also where it is about to be taken from the queue, as the store has it."""
    queue = tuple(_with_text(each, message, text) for each in state.queue)
    turn = state.turn
    if turn is not None:
        joining = turn.joining
        if joining is not None:
            joining = joining._replace(message=_with_text(joining.message, message, text))
        turn = turn._replace(message=_with_text(turn.message, message, text), joining=joining)
    return state._replace(queue=queue, turn=turn)


def _with_text(waiting: Waiting, message: str, text: str) -> Waiting:
    return waiting._replace(text=text) if waiting.id == message else waiting


def _arrived(state: TurnState, message: str) -> TurnState:
    return state._replace(arriving=None) if state.arriving == message else state


def _stored(state: TurnState, event: Stored) -> Step:
    """A second message during a turn waits or joins it; one from a person or an agent lifts a stop's hold.

    It lifts the hold of a stop before it, not of one that came while it was being stored.
    """
    if event.handed:
        return _handed(state, event.message)
    state = state._replace(queue=(*state.queue, event.message))
    if releases(event.message.origin) and event.stops == state.stops:
        state = released(state)
    return begin_next(state) if state.turn is None else steering.arrived(state, event)


def _handed(state: TurnState, message: Waiting) -> Step:
    """Send what was stored with its hand-over; it waits after all if a stop has come meanwhile."""
    is_aside = message.id in state.set_aside
    if state.may_begin and not is_aside:
        return Step(state._replace(turn=Turn(message, "running"), refusals=0), (SendRun(message),))
    cut: Cut | None = "interrupted" if state.closing or is_aside else None
    taking_back = state._replace(turn=Turn(message, "taking_back", cut=cut))
    return Step(taking_back, (CommitTakeBack(message.id),))
