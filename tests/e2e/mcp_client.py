"""The official client of the Model Context Protocol, over HTTP to a daemon."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import ProgressFnT

from tests.e2e.daemon import Daemon
from tests.e2e.program import LIMIT, PROGRAM, Showcaller


@asynccontextmanager
async def over_http(
    daemon: Daemon, token: str | None = None, *, patience: float = LIMIT
) -> AsyncGenerator[ClientSession]:
    """Connect a client, as the owner unless another token is given; ``patience`` in seconds."""
    headers = {"authorization": f"Bearer {token or daemon.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=patience, trust_env=False) as http,
        streamable_http_client(f"http://127.0.0.1:{daemon.port}/mcp", http_client=http) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


@asynccontextmanager
async def over_stdio(
    showcaller: Showcaller, *options: str, **environment: str
) -> AsyncGenerator[ClientSession]:
    """Connect a client by the program's bridge."""
    program = StdioServerParameters(
        command=str(PROGRAM),
        args=["mcp", *options],
        env={**os.environ, "SHOWCALLER_HOME": str(showcaller.home), **environment},
        cwd=showcaller.folder,
    )
    async with stdio_client(program) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


async def called(
    client: ClientSession, /, *, progress: ProgressFnT | None = None, **arguments: Any
) -> dict[str, Any]:
    """Call the tool; gives the result, a refusal too."""
    result = await client.call_tool(
        "relay_tool", {"relay": "this", **arguments}, read_timeout_seconds=LIMIT, progress_callback=progress
    )
    assert not result.is_error
    told: dict[str, Any] = result.structured_content
    return told
