"""What calls and sessions tell each other about cards; plain data."""

from typing import NamedTuple

from showcaller.actors.contract.agent_messages import CardOutcome
from showcaller.actors.relay.messages import WriteId


class GiveAnswer(NamedTuple):
    """To a session: this is the answer to a card of it, by the relay's id.

    Answered with ``AnswerGiven`` once that is stored, with ``Repeated``, or with a Refusal: the card takes no
    such answer, or has its end. ``choices`` are labels, ``via`` says who answers, ``call`` names the write;
    ``dismiss``: there will be no answer.
    """

    card: str
    choices: tuple[str, ...] = ()
    text: str | None = None
    via: str = "owner"
    dismiss: bool = False
    call: WriteId | None = None


class AnswerGiven(NamedTuple):
    """The answer to ``GiveAnswer``: the card has this end, which is stored."""

    card: str
    status: CardOutcome


class CardTimeUp(NamedTuple):
    """To the session itself: this card has lived as long as a card may."""

    card: str


class TryCards(NamedTuple):
    """To the session itself: the pause after the store refused something about a card is over."""
