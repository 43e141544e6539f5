"""Fan-outs over HTTP: begun, resumed, followed and stopped by their owner."""

from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.ids import is_id
from showcaller.actors.relay.refusals import refusal_for
from showcaller.transport.doors.http.bodies import FANOUT_BYTES, SMALL_BYTES, read_object
from showcaller.transport.doors.http.fanout_desk import FanoutDesk, spec_of
from showcaller.transport.doors.http.fanout_run import FanoutRun, News
from showcaller.transport.doors.http.replies import HEADERS, json_bytes, result_reply
from showcaller.transport.doors.local import LocalDoor

_DIGITS: Final = 12


class FanoutRoutes:
    """The paths below ``/api/fanouts``; made on the asyncio loop that serves them."""

    def __init__(self, door: LocalDoor) -> None:
        self._door = door
        self._desk = FanoutDesk(door)

    def routes(self) -> list[Route]:
        """Give the paths."""
        return [
            Route("/api/fanouts", self.list_fanouts, methods=["GET"]),
            Route("/api/fanouts", self.start_fanout, methods=["POST"]),
            Route("/api/fanouts/resume", self.resume_fanout, methods=["POST"]),
            Route("/api/fanouts/{group}/results", self.follow_fanout, methods=["GET"]),
            Route("/api/fanouts/{group}/stop", self.stop_fanout, methods=["POST"]),
        ]

    @property
    def running(self) -> list[FanoutRun]:
        """The fan-outs under way."""
        return self._desk.running

    async def start_fanout(self, request: Request) -> Response:
        """Begin a fan-out: ``{"group", "spec", "items"}``, once for each group, however often it is sent."""
        body = await read_object(request, FANOUT_BYTES)
        group, items = body.get("group"), body.get("items")
        if not isinstance(group, str) or not is_id(group, "grp_"):
            raise invalid("group must be a new id: grp_ and 12 of the characters 0-9 and a-z.")
        if not isinstance(items, list):
            raise invalid("items must be a list.")
        return _begun(await self._desk.start(group, spec_of(body.get("spec")), items))

    async def resume_fanout(self, request: Request) -> Response:
        """Go on with a fan-out, or join one under way: ``{"group", "rerun": true, "jobs": null}``."""
        body = await read_object(request, SMALL_BYTES)
        group, rerun, jobs = body.get("group"), body.get("rerun", True), body.get("jobs")
        if not isinstance(group, str):
            raise invalid("group must be text: a fan-out's id or name.")
        if not isinstance(rerun, bool):
            raise invalid("rerun must be true or false.")
        if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
            raise invalid("jobs must be a whole number, 1 or more.")
        return _begun(await self._desk.resume(group, jobs, rerun=rerun))

    async def list_fanouts(self, request: Request) -> Response:
        """List the last fan-outs, newest first."""
        del request
        rows = await self._door.list_fanouts_async()
        return result_reply({"ok": True, "fanouts": rows})

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
        return result_reply({"ok": True})


def _begun(run: FanoutRun) -> Response:
    assert run.spec is not None
    told = {"group": run.group, "run": run.run, "name": run.name, "total": run.total}
    return result_reply({"ok": True, **told, "spec": run.spec.model_dump(mode="json")})


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
