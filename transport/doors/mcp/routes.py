"""The path ``/mcp``: streamable HTTP without sessions, so that clients outlive a restart of the relay."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import DEFAULT_NEGOTIATED_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.limits import CALL_BYTES
from showcaller.transport.doors.http.audience import caller_of
from showcaller.transport.doors.http.bodies import UnreadBody, read_body
from showcaller.transport.doors.http.replies import HEADERS, json_bytes
from showcaller.transport.doors.mcp.connections import SESSION_HEADER, connection_in, new_connection
from showcaller.transport.doors.mcp.exchange import Headers, Reply, answered, reply_of
from showcaller.transport.doors.mcp.messages import (
    CANCELLED,
    INVALID_REQUEST,
    NoMessage,
    Notification,
    Request,
    answer,
    error_answer,
    message_in,
    request_id,
    with_arguments_read,
)
from showcaller.transport.doors.mcp.server import ToolServer, tool_result
from showcaller.transport.doors.mcp.under_way import RequestKey, UnderWay

PATH: Final = "/mcp"


class McpRoutes:
    """Answers what is posted to the path; to be used while ``running`` is entered.

    Versions of the protocol with a handshake are answered here, request by request, so that their JSON is
    read as strictly as any and a request can be taken back by a message of its own. The version without a
    handshake has rules for its headers that the package knows: it is handed over once the body is read.
    """

    def __init__(self, tools: ToolServer) -> None:
        self._server = tools.server
        self._later = StreamableHTTPSessionManager(tools.server, stateless=True)
        self._under_way = UnderWay()

    def routes(self) -> list[Route]:
        """Give the path."""
        return [Route(PATH, _Endpoint(self))]

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Be ready for requests for the length of a ``with``; once only."""
        async with self._later.run():
            yield

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        http = HttpRequest(scope, receive)
        refused = _refused_head(http)
        if refused is not None:
            await refused(scope, receive, send)
            return
        try:
            body = await read_body(http, CALL_BYTES)
            message = message_in(body, CALL_BYTES)
        except UnreadBody as unread:
            reply = _error_reply(400, INVALID_REQUEST, unread.error)
            reply.headers["connection"] = "close"
            await reply(scope, receive, send)
            return
        except NoMessage as error:
            await _error_reply(400, error.code, error.error)(scope, receive, send)
            return
        if isinstance(message, Request):
            try:
                read = with_arguments_read(message, CALL_BYTES)
            except Refusal as refusal:
                await _refused_call(message, refusal)(scope, receive, send)
                return
            if read is not message:
                message, body = read, read.to_bytes()
        version = http.headers.get(MCP_PROTOCOL_VERSION_HEADER, DEFAULT_NEGOTIATED_VERSION)
        if version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._later.handle_request(scope, _again(body, receive), send)
        elif isinstance(message, Notification):
            self._heard(http, message)
            await Response(None, 202, HEADERS)(scope, receive, send)
        else:
            await self._answer(message, http, receive, send, version)

    def _heard(self, http: HttpRequest, message: Notification) -> None:
        """End the waiting of a request that its client takes back; nothing else of what it tells matters."""
        connection = connection_in(http.scope["headers"])
        named = request_id((message.params or {}).get("requestId"))
        if message.method == "notifications/cancelled" and connection is not None and named is not None:
            self._under_way.end(RequestKey(caller_of(http), connection, named))

    async def _answer(
        self, request: Request, http: HttpRequest, receive: Receive, send: Send, version: str
    ) -> None:
        connection = connection_in(http.scope["headers"])
        key = None if connection is None else RequestKey(caller_of(http), connection, request.id)
        headers: Headers = {}
        if request.method == "initialize" and connection is None:
            headers[SESSION_HEADER] = new_connection()
        reply = reply_of(http, send, headers)
        answering = asyncio.ensure_future(answered(self._server, request, http, reply, version))
        with self._under_way.entered(key, answering.cancel):
            await _while_there(answering, receive)
        if answering.cancelled():
            await _taken_back(reply, request)


async def _while_there(answering: "asyncio.Future[None]", receive: Receive) -> None:
    """Wait for the answer's end, which comes at once when the client is gone."""
    gone = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (answering, gone):
            task.cancel()
        results = await asyncio.gather(answering, gone, return_exceptions=True)
    if isinstance(results[0], Exception):
        raise results[0]


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _taken_back(reply: Reply, request: Request) -> None:
    """Say that nobody waits any more; it goes nowhere when the client is gone."""
    await reply.end(error_answer(request.id, CANCELLED, "The request was taken back; what it began goes on."))


def _refused_call(request: Request, refusal: Refusal) -> Response:
    """Give the answer to a call whose arguments cannot be read: a result, as any refusal is."""
    told = tool_result(refusal.to_result()).model_dump(mode="json", by_alias=True, exclude_none=True)
    return Response(json_bytes(answer(request.id, told)), 200, HEADERS, "application/json")


def _again(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read once more, and then what comes."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return left.pop() if left else await receive()

    return received


def _refused_head(http: HttpRequest) -> Response | None:
    """Give the answer to a request of a wrong method or kind; None for a right one."""
    if http.method != "POST":
        reply = _error_reply(405, INVALID_REQUEST, "Requests are posted here; there is nothing to listen to.")
        reply.headers["allow"] = "POST"
        return reply
    kind = http.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return _closing(_error_reply(415, INVALID_REQUEST, "The body must be application/json."))
    return None


def _closing(reply: Response) -> Response:
    """Let the connection end with this answer: the body of the request is unread."""
    reply.headers["connection"] = "close"
    return reply


def _error_reply(status: int, code: int, error: str) -> Response:
    return Response(json_bytes(error_answer(None, code, error)), status, HEADERS, "application/json")


class _Endpoint:
    """A path whose requests are answered as they come, whatever their method."""

    def __init__(self, routes: McpRoutes) -> None:
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._routes.serve(scope, receive, send)
