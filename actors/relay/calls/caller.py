"""Who calls, and with what."""

from typing import Any, Final, Literal, NamedTuple

from showcaller.actors.relay.calls.owner_acts import OwnerActName


class Caller(NamedTuple):
    """Who calls, as the door knows from its token: the owner, or the agent of a session, which it names."""

    kind: Literal["owner", "agent"]
    session: str | None = None

    @property
    def agent(self) -> str | None:
        """The calling agent's session; None for the owner."""
        return self.session if self.kind == "agent" else None


OWNER: Final = Caller("owner")


class CallRequest(NamedTuple):
    """One call as a door received it; ``client_id`` makes a repeat of a write harmless."""

    arguments: Any
    caller: Caller
    client_id: str | None = None


class ActRequest(NamedTuple):
    """One act of the owner on a session that is no action of the tool; see ``owner_acts``."""

    action: OwnerActName
    session: object
    client_id: str | None = None
    caller: Caller = OWNER
