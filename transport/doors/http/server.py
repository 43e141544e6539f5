"""Serving HTTP on a bound socket, in the running asyncio loop, without a timer while nothing happens."""

import asyncio
import contextlib
import logging
import socket
from typing import Any, Final, cast

import h11
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from showcaller.actors.contract.errors import invalid
from showcaller.transport.doors.http.lingering import LingeringTransport
from showcaller.transport.doors.http.replies import HEADERS, json_bytes
from showcaller.transport.doors.http.whereabouts import HOST

logger = logging.getLogger("showcaller.http")

HEAD_BYTES: Final = 16 * 1024
HEAD_SECONDS: Final = 10.0
MOST_CONNECTIONS: Final = 512
WARN_EVERY: Final = 10.0
"""Seconds between two warnings that all places are taken."""
CUT: Final = "cut"
"""What in the state of a request's scope cuts its connection, with all that is still to be sent."""
KNOWN: Final = "known"
"""What in the state of a request's scope holds what was found of its connection, for those after it."""


def bind(port: int) -> socket.socket:
    """Take a port of the loopback address, a free one for 0, without listening yet; raises OSError."""
    # By its protocol asyncio knows that small packets must not wait for an acknowledgement.
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
    except BaseException:
        bound.close()
        raise
    return bound


class Connection(H11Protocol):
    """A connection whose next request must begin within a time, and that says when it is lost."""

    _head: asyncio.TimerHandle | None = None
    _lingering: LingeringTransport | None = None
    seconds = HEAD_SECONDS

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take it; where all places are taken, in that of one that asks nothing, or not at all."""
        assert isinstance(transport, asyncio.Transport)
        if len(self.connections) >= MOST_CONNECTIONS and not self._state.make_place(self.loop.time()):
            transport.abort()
            return
        self._lingering = LingeringTransport(transport, self._still_sends)
        super().connection_made(cast("asyncio.Transport", self._lingering))
        self.app_state |= {CUT: transport.abort, KNOWN: {}}
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that it is gone."""
        self._unset_head()
        if self._lingering is None:
            return
        self._lingering.lost()
        super().connection_lost(exc)
        self._state.lost()

    def data_received(self, data: bytes) -> None:
        """Take what has come, unless the answer to it has been given."""
        assert self._lingering is not None
        if not self._lingering.is_lingering:
            super().data_received(data)

    def handle_events(self) -> None:
        """Take what has come; once a request's head is whole its time does not count any more."""
        super().handle_events()
        if self.conn.our_state in {h11.SEND_RESPONSE, h11.SEND_BODY}:
            self._unset_head()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._await_head()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer to what is no HTTP as to any other bad input."""
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.close()
            return
        headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
        headers += [(b"content-type", b"application/json"), (b"connection", b"close")]
        body = json_bytes(invalid("This is no request of HTTP/1.1.").to_result())
        for event in (h11.Response(status_code=400, headers=headers), h11.Data(body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def give_place(self) -> None:
        """End at once for another, having asked nothing for longer than any."""
        self._unset_head()
        self.connections.discard(self)
        self.transport.abort()

    @property
    def _state(self) -> "Connections":
        assert isinstance(self.server_state, Connections)
        return self.server_state

    def _unsupported_upgrade_warning(self) -> None:
        """Log nothing: another protocol is refused, or left unused, where requests are checked."""

    def _still_sends(self) -> bool:
        return self.conn.their_state in {h11.SEND_BODY, h11.ERROR}

    def _await_head(self) -> None:
        self._unset_head()
        self._head = self.loop.call_later(self.seconds, self._give_up)
        self._state.silent[self] = None

    def _unset_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None
            self._state.silent.pop(self, None)

    def _give_up(self) -> None:
        self.transport.abort()


class Connections(ServerState):
    """The open connections; wakes who waits until there are none.

    ``silent`` are those of which a request's head is awaited, in the order in which that began.
    """

    def __init__(self) -> None:
        super().__init__()
        self.silent: dict[Connection, None] = {}
        self._warned: float | None = None
        self._none: asyncio.Event | None = None

    def make_place(self, now: float) -> bool:
        """End the connection that has been silent for longest; False when all have asked something.

        ``now`` is in seconds of a steady clock: it is warned of once in a while.
        """
        longest = next(iter(self.silent), None)
        if self._warned is None or now - self._warned >= WARN_EVERY:
            self._warned = now
            done = (
                "new ones are refused"
                if longest is None
                else "those silent for longest are ended for new ones"
            )
            logger.warning("All %d places for connections are taken: %s", MOST_CONNECTIONS, done)
        if longest is None:
            return False
        longest.give_place()
        return True

    def lost(self) -> None:
        """One has ended."""
        if self._none is not None and not self.connections:
            self._none.set()

    async def all_lost(self) -> None:
        """Wait until none is open."""
        self._none = asyncio.Event()
        self.lost()
        await self._none.wait()


class HttpServer:
    """Serves an application on a bound socket until it is closed."""

    def __init__(self, app: ASGIApp, bound: socket.socket) -> None:
        self._socket = bound
        self._state = Connections()
        self._config = Config(
            app,
            http=Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            h11_max_incomplete_event_size=HEAD_BYTES,
        )
        self._config.load()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connection, sock=self._socket, backlog=128)

    def _connection(self) -> Connection:
        state: dict[str, Any] = {}
        return Connection(self._config, self._state, state)

    async def all_lost(self) -> None:
        """Wait until no connection is open."""
        await self._state.all_lost()

    async def close(self, seconds: float) -> None:
        """Listen no more, let answers under way end for so many seconds, and then cut what is left."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._state.connections):
            connection.shutdown()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._state.all_lost()
        for task in list(self._state.tasks):
            task.cancel()
        for connection in list(self._state.connections):
            connection.transport.abort()
        if self._state.connections:
            await self._state.all_lost()
