"""Groups of sessions over HTTP: listed, made, renamed, dissolved, put into an order."""

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from showcaller.actors.contract.errors import Code
from showcaller.actors.contract.groups import (
    DissolveGroup,
    GroupChange,
    GroupResult,
    Groups,
    GroupsResult,
    NewGroup,
    OrderGroups,
    OrderResult,
    RenameGroup,
)
from showcaller.actors.contract.limits import CALL_BYTES, GROUPS_ORDERED, INBOX_ITEMS
from showcaller.actors.contract.outside import read_request
from showcaller.actors.relay.calls import GroupRequest
from showcaller.transport.doors.http.bodies import SMALL_BYTES, read_model
from showcaller.transport.doors.http.operations import Operation, Path
from showcaller.transport.doors.http.replies import result_reply
from showcaller.transport.doors.http.watch_routes import query_of
from showcaller.transport.doors.local import LocalDoor

Change = TypeVar("Change", bound=GroupChange)
_CONFIG: Final = ConfigDict(extra="forbid", strict=True)


class NameBody(BaseModel):
    """What a group is called; not ``none``, and nothing that begins as ids of groups do."""

    model_config = _CONFIG

    name: str = Field(min_length=1, max_length=200)


class RenameBody(BaseModel):
    """The group, by its id or name, and what it is called from now on."""

    model_config = _CONFIG

    group: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=200)


class DissolveBody(BaseModel):
    """The group, by its id or name."""

    model_config = _CONFIG

    group: str = Field(min_length=1, max_length=200)


class OrderBody(BaseModel):
    """Groups by their ids or names, in the order in which they are listed first; none: no order at all."""

    model_config = _CONFIG

    groups: list[str] = Field(max_length=GROUPS_ORDERED)


class GroupRoutes:
    """The paths of groups."""

    def __init__(self, door: LocalDoor) -> None:
        self._door = door

    def routes(self) -> list[Path]:
        """Give the paths."""
        return [
            Path("GET", "/api/groups", self.listed, _LIST),
            Path("POST", "/api/groups", self.make, _MAKE),
            Path("POST", "/api/groups/order", self.order, _ORDER),
            Path("POST", "/api/groups/rename", self.rename, _RENAME),
            Path("POST", "/api/groups/dissolve", self.dissolve, _DISSOLVE),
        ]

    async def listed(self, request: Request) -> Response:
        """List the groups."""
        return result_reply(await self._door.watch_async(read_request(Groups, query_of(request))))

    async def make(self, request: Request) -> Response:
        """Make a group."""
        body = await read_model(request, SMALL_BYTES, NameBody)
        return await self._done(NewGroup, {"title": body.name})

    async def order(self, request: Request) -> Response:
        """Say which groups are listed first."""
        body = await read_model(request, CALL_BYTES, OrderBody)
        return await self._done(OrderGroups, body.model_dump())

    async def rename(self, request: Request) -> Response:
        """Give a group another name."""
        body = await read_model(request, SMALL_BYTES, RenameBody)
        return await self._done(RenameGroup, {"group": body.group, "title": body.name})

    async def dissolve(self, request: Request) -> Response:
        """Have the sessions of a group in none."""
        body = await read_model(request, SMALL_BYTES, DissolveBody)
        return await self._done(DissolveGroup, body.model_dump())

    async def _done(self, model: type[Change], given: dict[str, Any]) -> Response:
        return result_reply(await self._door.do_async(GroupRequest(read_request(model, given))))


_LIST: Final = Operation(
    "List the groups of sessions there are, also the empty ones.",
    gives=GroupsResult,
    query={"limit": {"type": "integer", "minimum": 1, "maximum": INBOX_ITEMS, "default": 100}},
)
_MAKE: Final = Operation("Make a group.", takes=NameBody, gives=GroupResult)
_ORDER: Final = Operation(
    "Say which groups are listed first, and in which order.",
    takes=OrderBody,
    gives=OrderResult,
    codes=(Code.UNKNOWN_GROUP,),
)
_RENAME: Final = Operation(
    "Give a group another name.",
    takes=RenameBody,
    gives=GroupResult,
    codes=(Code.UNKNOWN_GROUP,),
)
_DISSOLVE: Final = Operation(
    "Have the sessions of a group in none, and forget it; they stay.",
    takes=DissolveBody,
    gives=GroupResult,
    codes=(Code.UNKNOWN_GROUP,),
)
