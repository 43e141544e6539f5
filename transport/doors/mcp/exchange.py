"""One request and its answer: a JSON body, or a stream that begins with the first report of progress."""

import logging
from collections.abc import Mapping
from typing import Any, Final

import anyio
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data, progress_token_from_params
from mcp.shared.message import MessageMetadata, ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from starlette.requests import Request as HttpRequest
from starlette.types import Send

from showcaller.transport.doors.http.replies import HEADERS, json_bytes
from showcaller.transport.doors.mcp.messages import (
    INTERNAL_ERROR,
    JsonObject,
    Request,
    RequestId,
    answer,
    error_answer,
)
from showcaller.transport.doors.mcp.server import takes_stream

logger = logging.getLogger("showcaller.mcp")

Headers = dict[str, str]
_STREAM: Final = {"content-type": "text/event-stream", "cache-control": "no-cache, no-transform"}


class Reply:
    """Writes the answer to one request. A stream is begun by the first message that is not the answer."""

    def __init__(self, send: Send, headers: Headers, *, streams: bool) -> None:
        self._send = send
        self._headers = headers
        self._streams = streams
        self._begun = False

    async def tell(self, message: JsonObject) -> None:
        """Send a message before the answer; a client that takes no stream does without."""
        if not self._streams:
            return
        if not self._begun:
            self._begun = True
            await self._start(200, {**HEADERS, **_STREAM})
        await self._send({"type": "http.response.body", "body": _event(message), "more_body": True})

    async def end(self, message: JsonObject) -> None:
        """Send the answer."""
        if self._begun:
            await self._send({"type": "http.response.body", "body": _event(message), "more_body": False})
            return
        body = json_bytes(message)
        kind = {"content-type": "application/json", "content-length": str(len(body))}
        await self._start(200, {**HEADERS, **kind})
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def _start(self, status: int, headers: Headers) -> None:
        named = {**headers, **self._headers}
        pairs = [(name.encode(), value.encode()) for name, value in named.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": pairs})


class Exchange:
    """What a handler knows of the request that it answers; there is no way to ask the client anything."""

    def __init__(self, request: Request, http: HttpRequest, reply: Reply) -> None:
        self._request = request
        self._reply = reply
        self._token = progress_token_from_params(request.params)
        self._metadata = ServerMessageMetadata(request_context=http, can_send_request=False)
        self._transport = TransportContext(
            kind="streamable-http", can_send_request=False, headers=http.headers
        )
        self._cancel_requested = anyio.Event()

    @property
    def transport(self) -> TransportContext:
        """How the request has come."""
        return self._transport

    @property
    def can_send_request(self) -> bool:
        """Never: an answer to it would have no way back."""
        return False

    @property
    def request_id(self) -> RequestId | None:
        """The request's id."""
        return self._request.id

    @property
    def message_metadata(self) -> MessageMetadata:
        """The HTTP request, which says who calls."""
        return self._metadata

    @property
    def cancel_requested(self) -> anyio.Event:
        """Never set: a request that is taken back is cancelled as a task."""
        return self._cancel_requested

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Refuse to ask the client."""
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Tell the client something before its answer."""
        told: JsonObject = {"jsonrpc": "2.0", "method": method}
        await self._reply.tell(told if params is None else {**told, "params": dict(params)})

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell a client that has asked for it how far its request is."""
        if self._token is None:
            return
        told = {"progressToken": self._token, "progress": progress, "total": total, "message": message}
        await self.notify(
            "notifications/progress", {name: value for name, value in told.items() if value is not None}
        )


async def answered(
    server: Server[Any], request: Request, http: HttpRequest, reply: Reply, version: str
) -> None:
    """Answer one request of a client that speaks a version with a handshake.

    No connection is kept, so each request is taken as one that comes after the handshake.
    """
    exchange = Exchange(request, http, reply)
    connection = Connection.from_envelope(version, None, None)
    try:
        result = await serve_one(
            server, exchange, request.method, request.params, connection=connection, lifespan_state={}
        )
        told = answer(request.id, result)
    except Exception as error:  # noqa: BLE001 - the client gets it as an error, whatever it is
        told = _failure(request, error)
    await reply.end(told)


def reply_of(http: HttpRequest, send: Send, headers: Headers) -> Reply:
    """Give what writes the answer to an HTTP request."""
    return Reply(send, headers, streams=takes_stream(http))


def _failure(request: Request, error: Exception) -> JsonObject:
    known = handler_exception_to_error_data(error)
    if known is not None:
        return error_answer(request.id, known.code, known.message, known.data)
    logger.error("A request could not be answered: %s", request.method[:80], exc_info=error)
    return error_answer(request.id, INTERNAL_ERROR, "A mistake of the relay's: its log says more.")


def _event(message: JsonObject) -> bytes:
    return b"event: message\r\ndata: " + json_bytes(message) + b"\r\n\r\n"
