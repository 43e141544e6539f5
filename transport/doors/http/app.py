"""The HTTP door: each path with what it takes and gives; who may use which stands in ``audience.py``."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.json_text import parse_json
from showcaller.actors.contract.limits import CALL_BYTES, CALL_PARTS
from showcaller.actors.contract.schema import tool_schema
from showcaller.actors.contract.views import ResultModel
from showcaller.actors.relay.refusals import refusal_for
from showcaller.transport.doors.http.access import Access, check_protocol
from showcaller.transport.doors.http.approval_routes import ApprovalRoutes
from showcaller.transport.doors.http.audience import caller_of, check_audience
from showcaller.transport.doors.http.bodies import (
    SMALL_BYTES,
    UnreadBody,
    idempotency_key,
    read_body,
    read_model,
)
from showcaller.transport.doors.http.call_answers import CALL_ANSWERS
from showcaller.transport.doors.http.export_routes import ExportRoutes
from showcaller.transport.doors.http.fanout_routes import FanoutRoutes
from showcaller.transport.doors.http.group_routes import GroupRoutes
from showcaller.transport.doors.http.inbox_routes import InboxRoutes
from showcaller.transport.doors.http.metrics import CONTENT_TYPE
from showcaller.transport.doors.http.open_requests import ShutOut
from showcaller.transport.doors.http.openapi import DocumentRoutes
from showcaller.transport.doors.http.operations import TEXT, Operation, Path
from showcaller.transport.doors.http.owner_routes import OwnerRoutes
from showcaller.transport.doors.http.pace import Paces
from showcaller.transport.doors.http.presence import while_there
from showcaller.transport.doors.http.replies import HEADERS, refusal_reply, result_reply
from showcaller.transport.doors.http.served import Served
from showcaller.transport.doors.http.sign_in_routes import SIGN_IN
from showcaller.transport.doors.http.status_answer import StatusAnswer
from showcaller.transport.doors.http.token_routes import TokenRoutes
from showcaller.transport.doors.http.watch_routes import WatchRoutes


class StopBody(BaseModel):
    """Whether the workers end too."""

    model_config = ConfigDict(extra="forbid", strict=True)

    workers: bool = False


class StopAnswer(ResultModel):
    """The process that ends."""

    ok: Literal[True] = True
    pid: int


class HttpDoor:
    """Answers requests by means of the one door; made on the asyncio loop that serves it."""

    def __init__(self, served: Served, now: Callable[[], float]) -> None:
        """``now`` gives seconds of a steady clock."""
        self._served = served
        self.now = now
        self._fanouts = FanoutRoutes(served.door)
        self._owner = OwnerRoutes(served.door, served.back_up)
        self._exports = ExportRoutes(served.door)
        self._tokens = TokenRoutes(served.door.tokens, served.callers)
        self._watch = WatchRoutes(served.door, now)
        self._inbox = InboxRoutes(served.door)
        self._approvals = ApprovalRoutes(served.door)
        self._groups = GroupRoutes(served.door)

    def routes(self) -> list[Path]:
        """Give all paths."""
        paths = [
            Path("POST", "/api/call", self.call, _CALL),
            *self._owner.routes(),
            *self._exports.routes(),
            *self._fanouts.routes(),
            *self._tokens.routes(),
            *self._served.sign_in.routes(),
            *self._watch.routes(),
            *self._inbox.routes(),
            *self._approvals.routes(),
            *self._groups.routes(),
            Path("GET", "/api/status", self.status, _STATUS),
            Path("POST", "/api/stop", self.stop, _STOP),
            Path("GET", "/metrics", self.metrics, _METRICS),
        ]
        return [*paths, *DocumentRoutes(paths, self._served.whereabouts.version).routes()]

    async def call(self, request: Request) -> Response:
        """Carry out one call of the tool; ``Idempotency-Key`` makes a repeat of a write harmless."""
        began = self.now()
        arguments: Any = None
        try:
            arguments = parse_json(await read_body(request, CALL_BYTES), CALL_BYTES, CALL_PARTS)
            key = idempotency_key(request)
            caller = caller_of(request)
            calling = self._served.door.call_async(arguments, caller, id=key)
            is_external = caller.kind == "external"  # its turn ends when it goes
            result = await (while_there(calling, request.receive) if is_external else calling)
        except Refusal as refusal:
            self._served.metrics.call(arguments, refusal.to_result(), self.now() - began)
            raise
        self._served.metrics.call(arguments, result, self.now() - began)
        return result_reply(result)

    async def status(self, request: Request) -> Response:
        """Tell how the relay does."""
        del request
        running = self._fanouts.running
        gauges = await self._served.gauges(len(running))
        return result_reply(self._served.status(gauges, [run.glance() for run in running]))

    async def stop(self, request: Request) -> Response:
        """Begin the orderly end of the relay: ``{"workers": false}``; the answer comes before the end."""
        body = await read_model(request, SMALL_BYTES, StopBody)
        self._served.stop(body.workers)
        return result_reply(StopAnswer(pid=self._served.whereabouts.pid).model_dump())

    async def metrics(self, request: Request) -> Response:
        """Give the figures in the text format of Prometheus."""
        del request
        gauges = await self._served.gauges(len(self._fanouts.running))
        text = self._served.metrics.text(gauges, self._served.dispatcher)
        return Response(text, 200, HEADERS, CONTENT_TYPE)


_CALL: Final = Operation(
    "Carry out one call of relay_tool.",
    takes=tool_schema(),
    gives=CALL_ANSWERS,
    once=True,
    codes=tuple(code for code in Code if code.http_status not in (None, 500)),
)
_STATUS: Final = Operation("Tell how the relay does.", gives=StatusAnswer)
_STOP: Final = Operation("Begin the orderly end of the relay.", takes=StopBody, gives=StopAnswer)
_METRICS: Final = Operation(
    "Give the figures in the text format of Prometheus.", gives=TEXT, media="text/plain"
)


def http_app(door: HttpDoor, access: Access, further: Sequence[Route] = ()) -> ASGIApp:
    """Give the application: the checks of who is let in, and behind them all paths, ``further`` ones too."""
    app = Starlette(
        routes=[*door.routes(), *further],
        exception_handlers={
            Refusal: _refused,
            HTTPException: _no_such_path,
            ClientDisconnect: _gone,
            Exception: _mistake,
        },
    )
    app.router.redirect_slashes = False
    return _Guarded(app, access, Paces(door.now))


class _Guarded:
    """Lets nothing through that does not pass the checks."""

    def __init__(self, app: ASGIApp, access: Access, paces: Paces) -> None:
        self._app = app
        self._access = access
        self._paces = paces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            scope["caller"] = await self._access.admit(scope["headers"], scope["method"], scope["path"])
            await self._access.check_peer(scope["caller"], scope)
            check_protocol(scope["headers"])
            check_audience(scope["path"], scope["caller"])
            if scope["path"] != SIGN_IN:  # of wrong links it takes few, and right ones beside any number
                self._paces.admit(scope["caller"])
            self._access.check_room(scope["caller"])
        except Refusal as refusal:
            reply = refusal_reply(refusal)
            reply.headers["connection"] = "close"
            await reply(scope, receive, send)
            return
        answer = _Answer(send)
        try:
            async with self._access.request_of(scope["caller"]):
                await self._app(scope, receive, answer.send)
        except ShutOut as shut_out:
            await answer.end(scope, receive, shut_out.refusal)


class _Answer:
    """An answer under way, which can be ended before its time."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = self._ended = False

    async def send(self, message: Message) -> None:
        """Pass a part on."""
        self._begun = True
        self._ended = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def end(self, scope: Scope, receive: Receive, refusal: Refusal) -> None:
        """Answer with a refusal, or send no more where the answer has begun."""
        if not self._begun:
            await refusal_reply(refusal)(scope, receive, self._send)
        elif not self._ended:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


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
