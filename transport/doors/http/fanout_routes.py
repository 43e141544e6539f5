"""Fan-outs over HTTP: begun, resumed, followed and stopped by their owner."""

from collections.abc import AsyncIterator
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.fanout import FanoutSpec
from showcaller.actors.contract.fanout.spec import MOST_JOBS
from showcaller.actors.contract.views import ResultModel
from showcaller.actors.relay.refusals import refusal_for
from showcaller.transport.doors.http.bodies import (
    FANOUT_BYTES,
    SMALL_BYTES,
    checked_body,
    read_model,
    read_object,
)
from showcaller.transport.doors.http.fanout_desk import FanoutDesk, spec_of
from showcaller.transport.doors.http.fanout_run import FanoutRun, News
from showcaller.transport.doors.http.operations import TEXT, Operation, Path
from showcaller.transport.doors.http.replies import HEADERS, json_bytes, result_reply
from showcaller.transport.doors.local import LocalDoor

_DIGITS: Final = 12


class StartBody(BaseModel):
    """A fan-out to begin; ``group`` is an id that its caller has made up: grp_ and 12 of 0-9 and a-z."""

    model_config = ConfigDict(extra="forbid", strict=True)

    group: str = Field(pattern=r"^grp_[0-9a-z]{12}$")
    spec: FanoutSpec
    items: list[Any]


class ResumeBody(BaseModel):
    """A fan-out to go on with: its group's id, a prefix of it, or its name; ``jobs`` replaces the bound."""

    model_config = ConfigDict(extra="forbid", strict=True)

    group: str
    rerun: bool = True
    jobs: int | None = Field(default=None, ge=1, le=MOST_JOBS)


class Begun(BaseModel):
    """A fan-out under way; ``run`` tells this run of it from others."""

    ok: Literal[True] = True
    group: str
    run: str
    name: str
    total: int
    spec: FanoutSpec


class FanoutRow(ResultModel):
    """A fan-out of now or earlier; of the items that ended, so many are not done, and ended in these ways."""

    group: str
    name: str
    created_at: str
    items: int
    ended: int
    not_done: int
    ended_as: dict[str, int]
    state: Literal["running", "ended", "unfinished"]


class FanoutList(ResultModel):
    """The last fan-outs, newest first."""

    ok: Literal[True] = True
    fanouts: list[FanoutRow]


class Stopping(BaseModel):
    """It was told to stop."""

    ok: Literal[True] = True


_GROUP: Final = {"group": TEXT}
_LIST: Final = Operation("List the last fan-outs, newest first.", gives=FanoutList)
_START: Final = Operation(
    "Begin a fan-out, once for each group.",
    takes=StartBody,
    gives=Begun,
    codes=(Code.UNKNOWN_GROUP, Code.PROVIDER_UNAVAILABLE, Code.BUSY),
)
_RESUME: Final = Operation(
    "Go on with a fan-out, or join one under way.",
    takes=ResumeBody,
    gives=Begun,
    codes=(Code.UNKNOWN_GROUP, Code.BUSY),
)
_FOLLOW: Final = Operation(
    "Write a line of JSON for each result from a place on, and for how it goes, until its end.",
    gives=TEXT,
    path=_GROUP,
    query={"run": TEXT, "after": {"type": "integer", "minimum": 0, "default": 0}},
    media="application/x-ndjson",
    streams=True,
)
_END: Final = Operation(
    "Start no more items of a fan-out and end those that run.", gives=Stopping, path=_GROUP
)


class FanoutRoutes:
    """The paths below ``/api/fanouts``; made on the asyncio loop that serves them."""

    def __init__(self, door: LocalDoor) -> None:
        self._door = door
        self._desk = FanoutDesk(door)

    def routes(self) -> list[Path]:
        """Give the paths."""
        return [
            Path("GET", "/api/fanouts", self.list_fanouts, _LIST),
            Path("POST", "/api/fanouts", self.start_fanout, _START),
            Path("POST", "/api/fanouts/resume", self.resume_fanout, _RESUME),
            Path("GET", "/api/fanouts/{group}/results", self.follow_fanout, _FOLLOW),
            Path("POST", "/api/fanouts/{group}/stop", self.stop_fanout, _END),
        ]

    @property
    def running(self) -> list[FanoutRun]:
        """The fan-outs under way."""
        return self._desk.running

    async def start_fanout(self, request: Request) -> Response:
        """Begin a fan-out: ``{"group", "spec", "items"}``, once for each group, however often it is sent."""
        body = await read_object(request, FANOUT_BYTES)
        spec = spec_of(body.get("spec"))
        wish = checked_body(body | {"spec": spec}, StartBody)
        return _begun(await self._desk.start(wish.group, spec, wish.items))

    async def resume_fanout(self, request: Request) -> Response:
        """Go on with a fan-out, or join one under way: ``{"group", "rerun": true, "jobs": null}``."""
        wish = await read_model(request, SMALL_BYTES, ResumeBody)
        return _begun(await self._desk.resume(wish.group, wish.jobs, rerun=wish.rerun))

    async def list_fanouts(self, request: Request) -> Response:
        """List the last fan-outs, newest first."""
        del request
        running = {run.group for run in self._desk.running}
        rows = [
            row | {"state": "running"} if row["group"] in running else row
            for row in await self._door.list_fanouts_async()
        ]
        return result_reply(FanoutList.model_validate({"fanouts": rows}).model_dump(by_alias=True))

    async def follow_fanout(self, request: Request) -> Response:
        """Write a line of JSON for each result from place ``after`` on, and how it goes; see ``_lines``."""
        run = self._desk.find(request.path_params["group"])
        named = request.query_params.get("run", run.run)
        if named != run.run:
            raise Refusal(Code.NOT_FOUND, f"The fan-out {run.group} has another run now: {run.run}.")
        after = request.query_params.get("after", "0")
        if not (after.isascii() and after.isdecimal() and len(after) <= _DIGITS):
            raise invalid("after must be a whole number: the place of the next result, from 0.")
        if int(after) > run.ended:
            raise invalid(f"after is {after}, but no more than {run.ended} items have ended.")
        return StreamingResponse(_lines(run, int(after)), 200, HEADERS, "application/x-ndjson")

    async def stop_fanout(self, request: Request) -> Response:
        """Start no more items of a fan-out and end those that run; its followers see its end."""
        self._desk.stop(request.path_params["group"])
        return result_reply(Stopping().model_dump())


def _begun(run: FanoutRun) -> Response:
    assert run.spec is not None
    begun = Begun(group=run.group, run=run.run, name=run.name, total=run.total, spec=run.spec)
    return result_reply(begun.model_dump(mode="json"))


async def _lines(run: FanoutRun, after: int) -> AsyncIterator[bytes]:
    """Give the lines of a follower: results, each with the place after it; how it goes; and the end."""
    try:
        async for news in run.follow(after):
            yield b"".join(_news_lines(run, news))
    except Refusal as refusal:
        yield json_bytes({"end": {"error": refusal.to_result()}}) + b"\n"


def _news_lines(run: FanoutRun, news: News) -> list[bytes]:
    first = news.place - len(news.results)
    lines: list[dict[str, Any]] = [
        {
            "after": first + index + 1,
            "number": result.number,
            "result": result.model_dump(mode="json", by_alias=True),
        }
        for index, result in enumerate(news.results)
    ]
    lines.append({"started": news.started, "running": news.running})
    if news.is_over:
        error = None if run.error is None else refusal_for(run.error).to_result()
        lines.append({"end": {"error": error}})
    return [json_bytes(line) + b"\n" for line in lines]
