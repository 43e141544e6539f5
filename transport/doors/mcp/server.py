"""The MCP server ``showcaller``: which tools it offers, and what becomes of a call."""

import json
from collections.abc import Callable, Coroutine
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.requests import Request

from showcaller.actors.contract.limits import IMPATIENT_SECONDS
from showcaller.actors.contract.schema import tool_schema
from showcaller.transport.doors.http.audience import caller_of
from showcaller.transport.doors.http.metrics import Metrics
from showcaller.transport.doors.local import LocalDoor
from showcaller.transport.doors.mcp.connections import client_id_of, connection_in
from showcaller.transport.doors.mcp.guidance import INSTRUCTIONS, TOOL, description
from showcaller.transport.doors.mcp.progress import Pause, pause, with_progress
from showcaller.transport.doors.mcp.supervisor_tools import TOOLS, Asking, call_supervisor_tool

SERVER_NAME: Final = "showcaller"
ANSWER_SECONDS: Final = IMPATIENT_SECONDS - 1
"""Seconds that a call waits for a client that may drop it; the rest is for the answer's way."""

Context = ServerRequestContext[Any, Request]


class ToolServer:
    """Hands calls of the tool, whatever their arguments, to the one door; made on its loop."""

    def __init__(
        self,
        door: LocalDoor,
        metrics: Metrics,
        version: str,
        now: Callable[[], float],
        wait: Pause = pause,
    ) -> None:
        """``now`` gives seconds of a steady clock, ``wait`` passes the time between two reports."""
        self._door = door
        self._metrics = metrics
        self._now = now
        self._wait = wait
        self._tool = Tool(
            name=TOOL,
            title="Agent sessions",
            description=description(),
            input_schema=tool_schema(),
            annotations=ToolAnnotations(read_only_hint=False, open_world_hint=True),
        )
        self.server: Server[Any] = Server(
            SERVER_NAME,
            version=version,
            title="Showcaller",
            instructions=INSTRUCTIONS,
            get_tool_input_schema=self._schema_of,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        self.server.middleware.clear()  # no tracing: nothing here would gather it

    async def _list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        del params
        return ListToolsResult(tools=[self._tool, *(_SUPERVISORS if _supervises(context) else ())])

    def _schema_of(self, name: str) -> dict[str, Any] | None:
        if name == TOOL:
            return self._tool.input_schema
        return TOOLS[name].schema if name in TOOLS else None

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        arguments = {} if params.arguments is None else params.arguments
        if params.name == TOOL:
            result = await self._called(context, arguments)
        elif params.name in TOOLS and _supervises(context):
            result = await self._watched(context, params.name, arguments)
        else:
            raise MCPError(INVALID_PARAMS, f"There is no tool {params.name[:80]!r}; there is {TOOL}.")
        return tool_result(result)

    async def _called(self, context: Context, arguments: dict[str, Any]) -> dict[str, Any]:
        """Carry a call out; a client that hears of progress is kept waiting as long as it asked."""
        request = context.request
        assert request is not None
        assert context.request_id is not None
        hears = progress_token_from_params(context.params) is not None and takes_stream(request)
        client_id = client_id_of(connection_in(request.scope["headers"]), context.request_id)
        began = self._now()
        call = self._door.call_async(
            arguments, caller_of(request), id=client_id, answer_within=None if hears else ANSWER_SECONDS
        )
        result = await self._reporting(context, call, hears=hears)
        self._metrics.call(arguments, result, self._now() - began)
        return result

    async def _watched(self, context: Context, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Carry out a tool of supervisors."""
        request = context.request
        assert request is not None
        hears = progress_token_from_params(context.params) is not None and takes_stream(request)
        asking = Asking(self._door, caller_of(request), self._now, None if hears else ANSWER_SECONDS)
        return await self._reporting(context, call_supervisor_tool(name, asking, arguments), hears=hears)

    async def _reporting(
        self, context: Context, call: Coroutine[Any, Any, dict[str, Any]], *, hears: bool
    ) -> dict[str, Any]:
        if not hears:
            return await call
        report = context.session.report_progress
        return await with_progress(call, lambda done, said: report(done, None, said), self._wait)


def tool_result(result: dict[str, Any]) -> CallToolResult:
    """Give the result of a call, be it a refusal, as clients of MCP get it."""
    text = json.dumps(result, ensure_ascii=False, allow_nan=False)
    return CallToolResult(content=[TextContent(text=text)], structured_content=result)


def _supervises(context: Context) -> bool:
    return context.request is not None and caller_of(context.request).supervises


_SUPERVISORS: Final = [
    Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema,
        annotations=ToolAnnotations(read_only_hint=tool.name != "session_restart", open_world_hint=True),
    )
    for tool in TOOLS.values()
]


def takes_stream(request: Request) -> bool:
    """Tell whether a client takes an answer in pieces, as progress needs it."""
    kinds = [kind.partition(";")[0].strip().lower() for kind in request.headers.get("accept", "").split(",")]
    return bool({"text/event-stream", "text/*", "*/*"}.intersection(kinds))
