"""What goes into a session's state machine, ``turn.py``; what comes out is in ``turn_effects.py``."""

from typing import Literal, NamedTuple

from showcaller.actors.contract.worker import TurnEnded

Why = Literal["stopped", "interrupted", "closing", "leaving"]


class Waiting(NamedTuple):
    """A message that no turn has taken yet; ``item`` is the JSON text of what a function gets.

    ``is_attempt``: a fan-out has sent it. ``continues``: nobody has sent it; the agent goes on by itself, so
    it is stored only once its turn begins. ``mode``, ``model`` and ``effort`` are what it names for its turn,
    and ``via`` is JSON text about the agent that has sent it.
    """

    id: str
    text: str
    origin: str = "owner"
    item: str | None = None
    timeout: float | None = None
    is_attempt: bool = False
    continues: bool = False
    mode: str | None = None
    via: str | None = None
    model: str | None = None
    effort: str | None = None


# -- inputs ----------------------------------------------------------------------------------------


class Arrives(NamedTuple):
    """A message is being stored with its hand-over, so that it is the next turn, if the session is free."""

    message: str


class Stored(NamedTuple):
    """A message was accepted and committed; ``stops`` is what the state counted when it arrived.

    ``steers``: the agent may take it into its running turn, and it needs nothing that its own would give.
    ``handed``: that it goes to the worker is committed with it.
    """

    message: Waiting
    stops: int
    steers: bool = False
    handed: bool = False


class NotStored(NamedTuple):
    """A message that was to be stored with its hand-over was not."""

    message: str


class Extended(NamedTuple):
    """A message that waits has this text from now on, as is committed."""

    message: str
    text: str


class FoundHeld(NamedTuple):
    """The store says that a stop holds the queue."""


class FoundWaiting(NamedTuple):
    """The store says that this message waits. A fan-out's waits until its fan-out wants it."""

    message: Waiting


class FoundHanded(NamedTuple):
    """The store says that a worker has this message, of which a session that failed knew.

    ``at_worker``: the worker has it indeed, and will tell its end. Else that is not known.
    """

    message: Waiting
    at_worker: bool = False


class FoundSteered(NamedTuple):
    """The store says that this message has joined the turn found before; else its agent may have seen it."""

    message: Waiting
    taken: bool


class Continue(NamedTuple):
    """A background task has ended, and the agent wants to go on because of it."""

    message: Waiting


class HandOverStored(NamedTuple):
    """*Handed to the worker* is committed for this message."""

    message: str


class HandOverFailed(NamedTuple):
    """The hand-over could not be committed; the message waits on."""

    message: str


class HandOverRefused(NamedTuple):
    """The message is no longer in the queue, as the store has it; or the command is ``faulty``, a mistake."""

    message: str
    faulty: bool = False


class TakenBack(NamedTuple):
    """It is committed that the message waits again."""

    message: str


class TakeBackRefused(NamedTuple):
    """The store had nothing to take back; or the command is ``faulty``, a mistake of ours."""

    message: str
    faulty: bool = False


class FailureStored(NamedTuple):
    """It is committed that the message has failed in the queue."""

    message: str


class FailureRefused(NamedTuple):
    """The message could not be ended in the queue, as the store has it."""

    message: str


class SteerStored(NamedTuple):
    """It is committed that this message joins the turn, so that its agent may see it."""

    message: str


class SteerFailed(NamedTuple):
    """That could not be committed; the message waits on for a turn of its own."""

    message: str


class SteerRefused(NamedTuple):
    """The message no longer waits, as the store has it."""

    message: str


class Steered(NamedTuple):
    """The worker says whether the agent has taken the message into the turn."""

    message: str
    turn: str
    accepted: bool


class SteerTaken(NamedTuple):
    """That the agent has taken the message is committed."""

    message: str


class Unsteered(NamedTuple):
    """It is committed that the message, which the agent has not seen, waits again."""

    message: str


class JoiningRefused(NamedTuple):
    """The store cannot take what became of a message that was to join: a mistake of ours if ``faulty``."""

    message: str
    faulty: bool = False


class Asks(NamedTuple):
    """The turn's agent waits on a card, or on none any more: nothing joins the turn meanwhile."""

    turn: str
    asks: bool


class WorkerEnded(NamedTuple):
    """The worker says that the turn is over."""

    end: TurnEnded


class Returned(NamedTuple):
    """The worker that was to have this turn has died without it: no agent has seen it, nor will."""

    message: str


class EndStored(NamedTuple):
    """The end of this message's turn is committed."""

    message: str


class EndRefused(NamedTuple):
    """The store cannot take this end (``faulty``), or has another one already."""

    message: str
    faulty: bool


class StoreFailed(NamedTuple):
    """What becomes of this message could not be committed now."""

    message: str


class Stop(NamedTuple):
    """Somebody stops the session, a fan-out cuts its own ``message``, or the relay ends.

    ``leaving``: the relay ends and its worker goes on with what it has.
    With a ``message`` only that one is cut, running, waiting or still being stored; nothing else is held.
    ``others``: something is under way of which the queue and the turn do not tell, so that there is
    something to hold: messages that are still being stored, or background tasks.
    """

    why: Why
    message: str | None = None
    others: bool = False


class HoldFailed(NamedTuple):
    """That a stop holds the queue could not be committed."""


class GoOn(NamedTuple):
    """What a stop has held, or a fan-out has set aside, goes on; with a ``message`` of the latter only this.

    What is held goes on once that is committed.
    """

    message: str | None = None


class Released(NamedTuple):
    """It is committed that no stop holds the queue; ``stops`` is what the state counted when it was asked."""

    stops: int


class PutAway(NamedTuple):
    """It is committed that the session takes no more prompts and that those that waited are cancelled."""


class Taken(NamedTuple):
    """It is committed that the client of an external conversation has these messages."""

    messages: tuple[str, ...]


class TimeUp(NamedTuple):
    """The turn of this message has run as long as a turn may."""

    message: str


class TryAgain(NamedTuple):
    """Time to repeat what the store refused."""


Input = (
    Arrives
    | Stored
    | NotStored
    | Extended
    | FoundHeld
    | FoundWaiting
    | FoundHanded
    | FoundSteered
    | Continue
    | HandOverStored
    | HandOverFailed
    | HandOverRefused
    | TakenBack
    | TakeBackRefused
    | FailureStored
    | FailureRefused
    | SteerStored
    | SteerFailed
    | SteerRefused
    | Steered
    | SteerTaken
    | Unsteered
    | JoiningRefused
    | Asks
    | WorkerEnded
    | Returned
    | EndStored
    | EndRefused
    | StoreFailed
    | Stop
    | HoldFailed
    | GoOn
    | Released
    | PutAway
    | Taken
    | TimeUp
    | TryAgain
)
