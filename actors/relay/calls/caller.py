"""Who calls, and with what."""

from typing import Any, Final, Literal, NamedTuple

from showcaller.actors.contract.approvals import Revoke
from showcaller.actors.contract.groups import GroupChange
from showcaller.actors.contract.inbox import Answer
from showcaller.actors.contract.outside import OutsideRequest
from showcaller.actors.relay.calls.external_calls import ExternalCall
from showcaller.actors.relay.calls.owner_acts import OwnerActName


class Caller(NamedTuple):
    """Who calls, as the door knows from its token: the owner, or a client that has a session, which it names.

    ``agent``: of a session that the relay runs; ``external``: of a conversation that it does not run, and
    that belongs to the token. ``supervises``: the token is one for supervisors, who may also watch all
    sessions from outside. ``turn`` is the one that an agent calls in: its calls are ended with it.
    """

    kind: Literal["owner", "agent", "external"]
    session: str | None = None
    supervises: bool = False
    turn: str | None = None

    @property
    def agent(self) -> str | None:
        """The session to whose agent the rules for agents apply; None for the owner."""
        return None if self.kind == "owner" else self.session


OWNER: Final = Caller("owner")


class CallRequest(NamedTuple):
    """One call as a door received it; ``client_id`` makes a repeat of a write harmless.

    ``answer_within``: the client drops calls that wait longer than so many seconds, if not known better.
    ``external``: the call's place in the books, when an external conversation makes it.
    """

    arguments: Any
    caller: Caller
    client_id: str | None = None
    answer_within: int | None = None
    external: ExternalCall | None = None


class ActRequest(NamedTuple):
    """One act of the owner on a session that is no action of the tool; see ``owner_acts``."""

    action: OwnerActName
    session: object
    client_id: str | None = None
    caller: Caller = OWNER


class AnswerRequest(NamedTuple):
    """The owner's answer to a card, of the right shape."""

    answer: Answer
    client_id: str | None = None
    caller: Caller = OWNER


class RevokeRequest(NamedTuple):
    """What the owner takes back of what stands allowed, of the right shape."""

    revoke: Revoke
    client_id: str | None = None
    caller: Caller = OWNER


class GroupRequest(NamedTuple):
    """What the owner does with groups, of the right shape."""

    change: GroupChange
    client_id: str | None = None
    caller: Caller = OWNER


class WatchRequest(NamedTuple):
    """What the owner or a supervisor asks from outside: a request of ``contract.outside`` and who asks."""

    asked: OutsideRequest
    caller: Caller = OWNER
