"""What calls and sessions tell each other about cards; plain data."""

from typing import NamedTuple

from showcaller.actors.contract.agent_messages import CardOutcome
from showcaller.actors.relay.consent.table import Grants
from showcaller.actors.relay.messages import WriteId


class GiveAnswer(NamedTuple):
    """To a session: this is the answer to a card of it, by the relay's id.

    Answered with ``AnswerGiven`` once that is stored, with ``Repeated``, or with a Refusal: the card takes no
    such answer, or has its end. ``choices`` are labels, ``via`` says who answers, ``call`` names the write;
    ``dismiss``: there will be no answer. An answer of an agent is one of the ``prompts`` of that session to
    others, of which ``unasked_limit`` may be sent unasked.
    """

    card: str
    choices: tuple[str, ...] = ()
    text: str | None = None
    via: str = "owner"
    dismiss: bool = False
    call: WriteId | None = None
    prompts: str | None = None
    unasked_limit: int | None = None


class AnswerGiven(NamedTuple):
    """The answer to ``GiveAnswer``: the card has this end, which is stored.

    Not ``is_awaited``: the call that it is for was cut with the relay before, and may never hear of it.
    """

    card: str
    status: CardOutcome
    is_awaited: bool = True


class CardTimeUp(NamedTuple):
    """To the session itself: this card has lived as long as a card may."""

    card: str


class TryCards(NamedTuple):
    """To the session itself: the pause after the store refused something about a card is over."""


class AskApproval(NamedTuple):
    """To the session whose agent calls: ask the owner about this call, which waits.

    Answered with the card's ``Ending``, with ``CheckAgain``, or with a Refusal: no turn runs, or it cannot be
    stored. ``call`` names this waiting, and the card if it is a new one; ``client_id`` is what the caller
    named the call, and calls with equal ``fingerprint`` ask for the same. ``shares`` as in ``Approval``.
    """

    call: str
    question: str
    detail: str
    grants: Grants
    fingerprint: str
    client_id: str | None = None
    shares: str | None = None


class LeaveApproval(NamedTuple):
    """To the same session: this call waits no more."""

    call: str


class RevokeApprovals(NamedTuple):
    """To a session: what was allowed in it, of one kind or all of it, stands no more.

    Answered with the kinds once that is stored, None when nothing stood, or with a Refusal.
    """

    kind: str | None


class RestartCount(NamedTuple):
    """To a session: what its agent sends to others counts from 0 again; answered with None, or a Refusal."""


class CheckAgain(NamedTuple):
    """An answer to ``AskApproval``: something has changed, so that the call has to be checked anew."""


class AgentsShutOut(NamedTuple):
    """To every session: agents may do nothing on this relay from now on."""


class Unclaimed(NamedTuple):
    """To the session itself: what the relay before has left was not taken up again in time."""


ToCards = GiveAnswer | AskApproval | LeaveApproval | RevokeApprovals | RestartCount | AgentsShutOut
"""What others ask of the cards of a session."""
OfCards = CardTimeUp | TryCards | Unclaimed
"""What a session tells itself about them."""
