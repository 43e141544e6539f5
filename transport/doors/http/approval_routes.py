"""What stands allowed to agents over HTTP: listed, and revoked."""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from showcaller.actors.contract.approvals import (
    ApprovalKind,
    Approvals,
    ApprovalsResult,
    Revoke,
    RevokeResult,
)
from showcaller.actors.contract.limits import INBOX_ITEMS
from showcaller.actors.contract.outside import read_request
from showcaller.actors.relay.calls import RevokeRequest
from showcaller.transport.doors.http.bodies import SMALL_BYTES, read_model
from showcaller.transport.doors.http.operations import TEXT, Operation, Path
from showcaller.transport.doors.http.replies import result_reply
from showcaller.transport.doors.http.watch_routes import query_of
from showcaller.transport.doors.local import LocalDoor


class RevokeBody(BaseModel):
    """The conversation, and what was allowed in it; without ``kind`` all of it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    session: str = Field(min_length=1, max_length=64)
    kind: ApprovalKind | None = None


class ApprovalRoutes:
    """The paths of approvals."""

    def __init__(self, door: LocalDoor) -> None:
        self._door = door

    def routes(self) -> list[Path]:
        """Give the paths."""
        return [
            Path("GET", "/api/approvals", self.approvals, _APPROVALS),
            Path("POST", "/api/approvals/revoke", self.revoke, _REVOKE),
        ]

    async def approvals(self, request: Request) -> Response:
        """List what stands allowed."""
        return result_reply(await self._door.watch_async(read_request(Approvals, query_of(request))))

    async def revoke(self, request: Request) -> Response:
        """Have it stand no more."""
        body = await read_model(request, SMALL_BYTES, RevokeBody)
        return result_reply(await self._door.do_async(RevokeRequest(read_request(Revoke, body.model_dump()))))


_APPROVALS: Final = Operation(
    "List what stands allowed to agents, by conversation.",
    gives=ApprovalsResult,
    query={
        "limit": {"type": "integer", "minimum": 1, "maximum": INBOX_ITEMS, "default": 100},
        "cursor": {**TEXT, "maxLength": 1000},
    },
)
_REVOKE: Final = Operation(
    "Have what was allowed in a conversation stand no more; the next call of its kind asks again.",
    takes=RevokeBody,
    gives=RevokeResult,
)
