"""Who calls, and with what."""

from typing import Any, Final, Literal, NamedTuple


class Caller(NamedTuple):
    """Who calls, as the door knows from its token: the owner, or the session of an agent."""

    kind: Literal["owner", "agent"]
    session: str | None = None


OWNER: Final = Caller("owner")


class CallRequest(NamedTuple):
    """One call as a door received it; ``client_id`` makes a repeat of a write harmless."""

    arguments: Any
    caller: Caller
    client_id: str | None = None
