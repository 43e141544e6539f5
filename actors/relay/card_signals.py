"""What a session's cards are, what goes into their state machine, ``cards.py``, and what comes out."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from showcaller.actors.contract.agent_messages import AnswerCard, CardAsked, CardKind, CardOption, CardOutcome
from showcaller.actors.contract.limits import CARD_HOURS

CARD_MILLISECONDS = CARD_HOURS * 3_600_000


class Ending(NamedTuple):
    """How a card ends; ``choices`` are ids of its options, ``via`` says who has answered."""

    outcome: CardOutcome
    choices: tuple[str, ...] = ()
    text: str | None = None
    via: str | None = None


WITHDRAWN = Ending("withdrawn")
TIMED_OUT = Ending("timed_out")


class Card(NamedTuple):
    """A card from the worker's word that it waits until its end is stored; times in milliseconds (UTC).

    ``name`` is the worker's own. ``phase``: ``opening`` until it is stored, then ``open``. ``wish`` is an end
    that is to be stored of it, and ``is_writing`` says that the store has been asked for something.
    """

    id: str
    name: str
    turn: str
    kind: CardKind
    question: str
    asked_at: int
    detail: str = ""
    options: tuple[CardOption, ...] = ()
    multi_select: bool = False
    allow_freeform: bool = False
    form: dict[str, Any] | None = None
    phase: Literal["opening", "open"] = "opening"
    wish: Ending | None = None
    is_writing: bool = False

    @property
    def expires_at(self) -> int:
        """When nobody need answer it any more."""
        return self.asked_at + CARD_MILLISECONDS


# -- inputs ----------------------------------------------------------------------------------------


class Begun(NamedTuple):
    """This turn is with a worker; ``found`` are its cards, as the store's ``load_session`` has them."""

    turn: str
    found: Sequence[dict[str, Any]] = ()


class Over(NamedTuple):
    """No turn is with a worker: what it asked was withdrawn with its end."""


class Stopping(NamedTuple):
    """The turn was told to end, or has ended: it asks no more.

    ``withdraws``: its cards go now; else the end of the turn, which is being stored, takes them with it.
    """

    withdraws: bool = True


class Asked(NamedTuple):
    """A worker says that an agent waits for an answer; ``id`` is for the card if it is a new one."""

    frame: CardAsked
    id: str
    at: int


class Gone(NamedTuple):
    """A worker says that nobody waits for this card any more."""

    turn: str
    name: str


class Opened(NamedTuple):
    """The card of this name is stored; ``known``: it was already, under this id."""

    name: str
    known: str | None = None


class NotOpened(NamedTuple):
    """The card of this name could not be stored now (``again``), or never will be."""

    name: str
    again: bool


class Ended(NamedTuple):
    """The end of a card is stored; the agent waits no more from then on."""

    card: str
    ending: Ending
    at: int


class NotEnded(NamedTuple):
    """The end of a card could not be stored now (``again``), or it has another one."""

    card: str
    again: bool


class TimeUp(NamedTuple):
    """Nobody has answered this card for as long as it lives."""

    card: str


class Again(NamedTuple):
    """Time to repeat what the store refused."""


Input = Begun | Over | Stopping | Asked | Gone | Opened | NotOpened | Ended | NotEnded | TimeUp | Again


# -- effects ---------------------------------------------------------------------------------------


class CommitOpen(NamedTuple):
    """Commit that the card is there for people to see."""

    card: Card


class CommitEnd(NamedTuple):
    """Commit the end of a card that nobody waits for here."""

    card: Card
    ending: Ending


class Show(NamedTuple):
    """The card is stored: tell who waits for the turn, and have its time end."""

    card: Card


class Tell(NamedTuple):
    """Tell the worker what became of a card."""

    answer: AnswerCard


class AgainLater(NamedTuple):
    """Give the store some time and then an ``Again``."""


Effect = CommitOpen | CommitEnd | Show | Tell | AgainLater
