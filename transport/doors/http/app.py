"""The HTTP door: each path with what it takes and gives. Whoever gets this far is the relay's owner."""

import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.ids import is_id
from showcaller.actors.contract.json_text import parse_json
from showcaller.actors.contract.limits import CALL_BYTES
from showcaller.actors.relay.refusals import refusal_for
from showcaller.transport.doors.http.access import Access
from showcaller.transport.doors.http.bodies import (
    FANOUT_BYTES,
    SMALL_BYTES,
    UnreadBody,
    read_body,
    read_object,
)
from showcaller.transport.doors.http.fanout_desk import FanoutDesk, spec_of
from showcaller.transport.doors.http.fanout_run import FanoutRun, News
from showcaller.transport.doors.http.metrics import CONTENT_TYPE
from showcaller.transport.doors.http.replies import HEADERS, json_bytes, refusal_reply, result_reply
from showcaller.transport.doors.http.served import Served

logger = logging.getLogger("showcaller.http")

_DIGITS: Final = 12


class HttpDoor:
    """Answers requests by means of the one door; made on the asyncio loop that serves it."""

    def __init__(self, served: Served, now: Callable[[], float]) -> None:
        """``now`` gives seconds of a steady clock."""
        self._served = served
        self._now = now
        self._desk = FanoutDesk(served.door)

    def routes(self) -> list[Route]:
        """Give all paths."""
        return [
            Route("/api/call", self.call, methods=["POST"]),
            Route("/api/fanouts", self.list_fanouts, methods=["GET"]),
            Route("/api/fanouts", self.start_fanout, methods=["POST"]),
            Route("/api/fanouts/resume", self.resume_fanout, methods=["POST"]),
            Route("/api/fanouts/{group}/results", self.follow_fanout, methods=["GET"]),
            Route("/api/fanouts/{group}/stop", self.stop_fanout, methods=["POST"]),
            Route("/api/status", self.status, methods=["GET"]),
            Route("/api/stop", self.stop, methods=["POST"]),
            Route("/metrics", self.metrics, methods=["GET"]),
        ]

    async def call(self, request: Request) -> Response:
        """Carry out one call of the tool; ``Idempotency-Key`` makes a repeat of a write harmless."""
        began = self._now()
        arguments: Any = None
        try:
            arguments = parse_json(await read_body(request, CALL_BYTES), CALL_BYTES)
            keys = request.headers.getlist("idempotency-key")
            if len(keys) > 1:
                raise invalid("Give one Idempotency-Key.")
            result = await self._served.door.call_async(arguments, id=keys[0] if keys else None)
        except Refusal as refusal:
            self._served.metrics.call(arguments, refusal.to_result(), self._now() - began)
            raise
        self._served.metrics.call(arguments, result, self._now() - began)
        return result_reply(result)

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
        rows = await self._served.door.list_fanouts_async()
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

    async def status(self, request: Request) -> Response:
        """Tell how the relay does."""
        del request
        running = self._desk.running
        gauges = await self._served.gauges(len(running))
        return result_reply(self._served.status(gauges, [run.glance() for run in running]))

    async def stop(self, request: Request) -> Response:
        """Begin the orderly end of the relay: ``{"workers": false}``; the answer comes before the end."""
        workers = (await read_object(request, SMALL_BYTES)).get("workers", False)
        if not isinstance(workers, bool):
            raise invalid("workers must be true or false.")
        self._served.stop(workers)
        return result_reply({"ok": True, "pid": self._served.whereabouts.pid})

    async def metrics(self, request: Request) -> Response:
        """Give the figures in the text format of Prometheus."""
        del request
        gauges = await self._served.gauges(len(self._desk.running))
        text = self._served.metrics.text(gauges, self._served.dispatcher)
        return Response(text, 200, HEADERS, CONTENT_TYPE)


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


def http_app(door: HttpDoor, access: Access) -> ASGIApp:
    """Give the application: the checks of who is let in, and behind them the paths."""
    app = Starlette(
        routes=door.routes(),
        exception_handlers={
            Refusal: _refused,
            HTTPException: _no_such_path,
            ClientDisconnect: _gone,
            Exception: _mistake,
        },
    )
    app.router.redirect_slashes = False
    return _Guarded(app, access)


class _Guarded:
    """Lets nothing through that does not pass the checks."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._access.check(scope["headers"])
        except Refusal as refusal:
            reply = refusal_reply(refusal)
            reply.headers["connection"] = "close"
            await reply(scope, receive, send)
            return
        await self._app(scope, receive, send)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return refusal_reply(error)


async def _no_such_path(*_: object) -> Response:
    return refusal_reply(Refusal(Code.NOT_FOUND, "There is nothing at this path for this method."))


async def _gone(*_: object) -> Response:
    """Answer where nobody is left to read it."""
    return refusal_reply(UnreadBody(Code.INVALID_INPUT, "The body has ended too soon."))


async def _mistake(_: Request, error: Exception) -> Response:
    return refusal_reply(refusal_for(error))
