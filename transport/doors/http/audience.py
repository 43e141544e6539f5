"""Who may use which path: all are the owner's but those that are named here."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from starlette.requests import Request

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.calls import Caller

Audience = Literal["owner", "supervisors", "all"]
"""``supervisors``: the owner and who holds a supervisor's token; ``all``: whoever holds a token."""

AUDIENCES: Final[Mapping[str, Audience]] = MappingProxyType(
    {
        "/api/call": "all",
        "/mcp": "all",
        "/sign-in": "all",
        "/api/monitor": "supervisors",
        "/api/events": "supervisors",
        "/api/events/stream": "supervisors",
    }
)
"""By path; one that is not here is the owner's alone."""
_OUTPUT: Final = re.compile(r"/api/sessions/[^/]+/output")


def audience_of(path: str) -> Audience:
    """Say for whom a path is."""
    return "supervisors" if _OUTPUT.fullmatch(path) else AUDIENCES.get(path, "owner")


def check_audience(path: str, caller: Caller) -> None:
    """Refuse a path that is not for this caller; raises ``Refusal``."""
    audience = audience_of(path)
    if caller.kind == "owner" or audience == "all" or (audience == "supervisors" and caller.supervises):
        return
    raise Refusal(
        Code.FORBIDDEN, "This path is for the relay's owner; an agent's token, or another's, does not do."
    )


def caller_of(request: Request) -> Caller:
    """Give who has sent a request that was let in."""
    caller: Caller = request.scope["caller"]
    return caller
