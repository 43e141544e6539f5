"""What a session's cards are, what goes into their state machine, ``cards.py``, and what comes out."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from showcaller.actors.contract.agent_messages import AnswerCard, CardAsked, CardKind, CardOption, CardOutcome
from showcaller.actors.contract.limits import CARD_HOURS
from showcaller.actors.relay.consent.table import Grants

CARD_MILLISECONDS = CARD_HOURS * 3_600_000


class Ending(NamedTuple):
    """How a card ends; ``choices`` are ids of its options, ``via`` says who has answered."""

    outcome: CardOutcome
    choices: tuple[str, ...] = ()
    text: str | None = None
    via: str | None = None


WITHDRAWN = Ending("withdrawn")
TIMED_OUT = Ending("timed_out")


class BoundCall(NamedTuple):
    """A call to which an approval card is bound, and what the card says of it.

    ``client_id`` is what its caller named it, if it can be taken up again after the end of the relay.
    """

    client_id: str | None
    fingerprint: str
    detail: str


class Approval(NamedTuple):
    """What makes a card one of ours: the calls that wait for it, and what its *Allow* grants besides.

    Calls of equal ``shares`` are listed on one card while it waits; None is shared by none.
    """

    calls: tuple[BoundCall, ...]
    grants: Grants
    shares: str | None = None

    @property
    def detail(self) -> str:
        """What the card says of its calls."""
        return "\n\n".join(call.detail for call in self.calls)


class Card(NamedTuple):
    """A card from the word that somebody waits until its end is stored; times in milliseconds (UTC).

    ``name`` is the worker's own, or the card's id where a call waits: of that ``approval`` tells then.
    ``phase``: ``opening`` until it is stored, then ``open``. ``wish`` is an end that is to be stored of it,
    and ``is_writing`` says that the store has been asked for something.
    """

    id: str
    name: str
    turn: str
    kind: CardKind | Literal["approval"]
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
    approval: Approval | None = None

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


class Wanted(NamedTuple):
    """A call waits for an approval; ``card`` is a new one of the turn under way."""

    card: Card


class Rebound(NamedTuple):
    """An approval card is for these calls from now on; ``by`` is the one that has come to it, if one has."""

    card: str
    calls: tuple[BoundCall, ...]
    by: str | None = None


class Unwanted(NamedTuple):
    """No call waits for these cards any more."""

    cards: frozenset[str]


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
    """The end of a card could not be stored now (``again``), or it has another one by ``at``."""

    card: str
    again: bool
    at: int


class TimeUp(NamedTuple):
    """Nobody has answered this card for as long as it lives."""

    card: str


class Again(NamedTuple):
    """Time to repeat what the store refused."""


Input = (
    Begun
    | Over
    | Stopping
    | Asked
    | Wanted
    | Rebound
    | Unwanted
    | Gone
    | Opened
    | NotOpened
    | Ended
    | NotEnded
    | TimeUp
    | Again
)


# -- effects ---------------------------------------------------------------------------------------


class CommitOpen(NamedTuple):
    """Commit that the card is there for people to see."""

    card: Card


class CommitBinding(NamedTuple):
    """Commit for which calls the card is; ``by`` is the one that has come to it, if one has."""

    card: Card
    by: str | None


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


class TellCalls(NamedTuple):
    """Tell the calls that wait for an approval card what became of it."""

    card: Card
    ending: Ending


class AgainLater(NamedTuple):
    """Give the store some time and then an ``Again``."""


Effect = CommitOpen | CommitBinding | CommitEnd | Show | Tell | TellCalls | AgainLater
