"""What a session attaches to what it writes, to know the answer when it comes back."""

from typing import NamedTuple

from showcaller.actors.relay.card_signals import Ending
from showcaller.actors.relay.messages import Prompt, Stopped
from showcaller.actors.relay.replies import Reply
from showcaller.actors.relay.tasks import TaskWrite
from showcaller.actors.relay.update_messages import Update


class ForPrompt(NamedTuple):
    """Accepts a prompt; ``stops`` is what the turn counted when it arrived.

    With ``extends`` the message of that id, which waits, gets the prompt's text.
    """

    prompt: Prompt
    stops: int
    is_busy: bool = False
    extends: str | None = None


class ForTurn(NamedTuple):
    """About a turn; ``reply`` is the id of the agent's message that ends it, if any."""

    command: str
    message: str
    reply: str | None = None


class ForStop(NamedTuple):
    """Holds the queue; ``stopped`` is what the stop is answered."""

    reply: Reply
    stopped: Stopped


class ForRelease(NamedTuple):
    """Lets the queue go on; ``stops`` is what the turn counted when that was asked."""

    reply: Reply
    stops: int


class ForPutAway(NamedTuple):
    """Archives or deletes the session."""

    reply: Reply
    is_deleted: bool


class ForUpdate(NamedTuple):
    """Changes settings of the session."""

    reply: Reply
    order: Update


class ForTaking(NamedTuple):
    """Notes that the client of an external conversation has these messages."""

    reply: Reply
    messages: tuple[str, ...]


class ForCard(NamedTuple):
    """Opens the card of this name, its worker's, or with an ``ending`` ends the card of this id.

    ``is_given``: somebody waits for the answer to an answer.
    """

    card: str
    at: int
    ending: Ending | None = None
    is_given: bool = False


class ForBinding(NamedTuple):
    """Lists calls on an approval card; ``by`` is the one that has come to it, if one has."""

    card: str
    by: str | None


class ForStanding(NamedTuple):
    """Takes back what stands allowed, or begins a count again, for who waits for ``reply``."""

    reply: Reply


class ForConversation(NamedTuple):
    """Keeps which conversation of its agent the session continues."""

    agent_session: str


class ForTask(NamedTuple):
    """About a background task."""

    write: TaskWrite


OF_CARDS = (ForCard, ForBinding, ForStanding)
"""What is attached to what is written about cards."""
