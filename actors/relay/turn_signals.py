"""What goes into a session's state machine, ``turn.py``, and what comes out of it: plain data."""

from typing import Literal, NamedTuple

from showcaller.actors.contract.worker import TurnEnded

Why = Literal["stopped", "interrupted", "closing"]


class Waiting(NamedTuple):
    """A stored message that no turn has taken yet; ``item`` is the JSON text of what a function gets."""

    id: str
    text: str
    origin: str = "owner"
    item: str | None = None
    timeout: float | None = None


# -- inputs ----------------------------------------------------------------------------------------


class Stored(NamedTuple):
    """A message was accepted and committed; ``stops`` is what the state counted when it arrived."""

    message: Waiting
    stops: int


class FoundHanded(NamedTuple):
    """The store says that a worker has this message, of which a session that failed knew.

    ``at_worker``: the worker has it indeed, and will tell its end. Else that is not known.
    """

    message: Waiting
    at_worker: bool = False


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


class Cancelled(NamedTuple):
    """It is committed that the message is out of the queue for good."""

    message: str


class CancelRefused(NamedTuple):
    """The message could not be taken out of the queue, as the store has it."""

    message: str


class WorkerEnded(NamedTuple):
    """The worker says that the turn is over."""

    end: TurnEnded


class EndStored(NamedTuple):
    """The end of this message's turn is committed."""

    message: str


class EndRefused(NamedTuple):
    """The store cannot take this end (``faulty``), or has another one already."""

    message: str
    faulty: bool


class StoreFailed(NamedTuple):
    """The end, the taking back or the taking out of this message could not be committed now."""

    message: str


class Stop(NamedTuple):
    """Somebody stops the session, a fan-out cuts its own ``message``, or the relay ends.

    With a ``message`` only that one is cut, running, waiting or still being stored; nothing else is held.
    ``accepting``: messages that came before the stop are still being stored.
    """

    why: Why
    message: str | None = None
    accepting: bool = False


class GoOn(NamedTuple):
    """What a stop has held, or a fan-out has cut while it waited, goes on."""


class TryAgain(NamedTuple):
    """Time to repeat what the store refused."""


Input = (
    Stored
    | FoundHanded
    | HandOverStored
    | HandOverFailed
    | HandOverRefused
    | TakenBack
    | TakeBackRefused
    | Cancelled
    | CancelRefused
    | WorkerEnded
    | EndStored
    | EndRefused
    | StoreFailed
    | Stop
    | GoOn
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


class CommitTakeBack(NamedTuple):
    """Commit that this message, which no worker has seen, waits again."""

    message: str


class CommitCancel(NamedTuple):
    """Commit that this message is out of the queue for good."""

    message: str


class CommitEnd(NamedTuple):
    """Commit the end of this message's turn."""

    end: TurnEnded


class Announce(NamedTuple):
    """Tell whoever waits for this message that it has its end."""

    end: TurnEnded


class LookUp(NamedTuple):
    """Tell whoever waits for this message that no end will come of it here: the store says how it stands."""

    message: str


class AskAgainLater(NamedTuple):
    """Give the store some time and then a ``TryAgain``."""


Effect = (
    CommitHandOver
    | SendRun
    | SendStop
    | CommitTakeBack
    | CommitCancel
    | CommitEnd
    | Announce
    | LookUp
    | AskAgainLater
)
