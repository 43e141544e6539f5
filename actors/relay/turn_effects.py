"""What a session carries out when its state machine says so: plain data, one kind of effect each."""

from typing import NamedTuple

from showcaller.actors.contract.worker import TurnEnded
from showcaller.actors.relay.turn_signals import Waiting


class CommitHandOver(NamedTuple):
    """Commit that this message goes to a worker."""

    message: Waiting


class CommitContinuation(NamedTuple):
    """Commit that the agent goes on in a turn of its own, as this message, which nobody has sent."""

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


class CommitFailure(NamedTuple):
    """Commit that a message that waits has failed, because it can never run."""

    end: TurnEnded


class CommitSteer(NamedTuple):
    """Commit that this message joins the turn."""

    message: Waiting
    turn: str


class SendSteer(NamedTuple):
    """Have the worker give the message to the agent within the turn."""

    message: Waiting
    turn: str


class CommitTaken(NamedTuple):
    """Commit that the agent has taken this message into its turn."""

    message: str


class CommitUnsteer(NamedTuple):
    """Commit that this message, which the agent has not seen, waits again."""

    message: str


class CommitHold(NamedTuple):
    """Commit that a stop holds the queue."""


class CommitRelease(NamedTuple):
    """Commit that no stop holds the queue; ``stops`` comes back with the commit."""

    stops: int


class Untold(NamedTuple):
    """A message of which the store has not taken what became of it: it was taken into the turn, or waits."""

    message: str
    is_taken: bool


class CommitEnd(NamedTuple):
    """Commit the end of this message's turn; with ``untold`` what became of one that was to join it."""

    end: TurnEnded
    untold: Untold | None = None


class Announce(NamedTuple):
    """Tell whoever waits for this message that it has its end; is the turn's reply for it as well?"""

    end: TurnEnded
    is_answered: bool = True


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
    | CommitContinuation
    | CommitFailure
    | CommitSteer
    | SendSteer
    | CommitTaken
    | CommitUnsteer
    | CommitHold
    | CommitRelease
    | CommitEnd
    | Announce
    | LookUp
    | AskAgainLater
)
