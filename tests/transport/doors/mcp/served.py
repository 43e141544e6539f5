"""The MCP door alone, in this process, over a door to the relay that the test answers for."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from showcaller.actors.relay.calls import OWNER, Caller
from showcaller.transport.doors.http.metrics import Metrics
from showcaller.transport.doors.mcp.routes import McpRoutes
from showcaller.transport.doors.mcp.server import ToolServer

STREAM = {"accept": "application/json, text/event-stream"}
LIMIT = 30.0


class Called(NamedTuple):
    """A call as the door to the relay got it."""

    arguments: Any
    caller: Caller
    id: str | None
    answer_within: int | None


class FakeDoor:
    """Notes calls, and answers when it is told."""

    def __init__(self) -> None:
        self.calls: list[Called] = []
        self.came = asyncio.Event()
        self.answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.left = asyncio.Event()

    async def call_async(
        self,
        arguments: Any,
        caller: Caller = OWNER,
        *,
        id: str | None = None,  # noqa: A002
        answer_within: int | None = None,
    ) -> dict[str, Any]:
        """Wait for the answer, as a call waits for its reply."""
        self.calls.append(Called(arguments, caller, id, answer_within))
        self.came.set()
        try:
            return await asyncio.shield(self.answer)
        finally:
            self.left.set()


class FakeTime:
    """Lets the time between two reports pass when the test says so."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self._asked: asyncio.Queue[asyncio.Future[None]] = asyncio.Queue()

    async def wait(self, seconds: float) -> None:
        """Wait until the test lets it pass."""
        passed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waits.append(seconds)
        self._asked.put_nowait(passed)
        await passed

    async def pass_once(self) -> None:
        """Let the wait that is asked for pass."""
        async with asyncio.timeout(LIMIT):
            (await self._asked.get()).set_result(None)

    async def next_is_asked(self) -> None:
        """Wait until somebody waits again, so that what came before has been said."""
        async with asyncio.timeout(LIMIT):
            self._asked.put_nowait(await self._asked.get())


class McpClient:
    """Posts messages as a caller."""

    def __init__(self, routes: McpRoutes, door: FakeDoor, time: FakeTime) -> None:
        self.door = door
        self.time = time
        self._app = Starlette(routes=routes.routes())
        self._caller = OWNER

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["caller"] = self._caller
        await self._app(scope, receive, send)

    async def post(
        self,
        body: Any,
        headers: dict[str, str] | None = None,
        *,
        caller: Caller = OWNER,
        method: str = "POST",
    ) -> httpx.Response:
        """Post a message, or bytes as they are."""
        self._caller = caller
        transport = httpx.ASGITransport(app=self, raise_app_exceptions=True)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", timeout=LIMIT
        ) as client:
            given = {"content-type": "application/json", **STREAM, **(headers or {})}
            if isinstance(body, bytes):
                return await client.request(method, "/mcp", content=body, headers=given)
            return await client.request(method, "/mcp", json=body, headers=given)


@asynccontextmanager
async def served() -> AsyncGenerator[McpClient]:
    """Serve the door for the length of a ``with``."""
    door, time = FakeDoor(), FakeTime()
    tools = ToolServer(door, Metrics(), "1", lambda: 0.0, time.wait)  # type: ignore[arg-type]
    routes = McpRoutes(tools)
    async with routes.running():
        yield McpClient(routes, door, time)


def tool_call(arguments: Any = None, *, id: int | str = 1, token: str | None = None) -> dict[str, Any]:  # noqa: A002
    """Give a request to call the tool, with a token for progress where one is named."""
    params: dict[str, Any] = {"name": "relay_tool", "arguments": arguments or {"action": "list_relays"}}
    if token is not None:
        params["_meta"] = {"progressToken": token}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
