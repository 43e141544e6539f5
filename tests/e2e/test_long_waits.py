"""Waits of 95 seconds in real time, over both doors and across a death of the relay: with REAL_TIME=1."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession

from tests.e2e.daemon import Daemon, serving
from tests.e2e.mcp_client import over_http, over_stdio
from tests.e2e.program import Showcaller
from tests.e2e.test_mcp_stdio import killed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(os.environ.get("REAL_TIME") != "1", reason="takes minutes: REAL_TIME=1 runs it"),
]
PATIENCE = 200.0
WORKS_FOR = 90
DIES_AFTER = 20.0
CAP = 45.0


class Waiting:
    """A client that waits for a reply, and the call that it repeats."""

    def __init__(self, client: ClientSession, arguments: dict[str, Any], *, has_progress: bool) -> None:
        self.client = client
        self.arguments = arguments
        self.has_progress = has_progress
        self.heard: list[float] = []

    async def once(self) -> dict[str, Any]:
        result = await self.client.call_tool(
            "relay_tool",
            self.arguments,
            read_timeout_seconds=PATIENCE,
            progress_callback=self._hear if self.has_progress else None,
        )
        assert not result.is_error
        told: dict[str, Any] = result.structured_content
        return told

    async def _hear(self, progress: float, total: float | None, message: str | None) -> None:
        self.heard.append(progress)


@pytest.mark.parametrize("dies", [False, True], ids=["", "killed meanwhile"])
@pytest.mark.parametrize("has_progress", [True, False], ids=["with a token", "without"])
async def test_a_wait_of_95_seconds_over_stdio(tmp_path: Path, has_progress: bool, dies: bool) -> None:
    showcaller = Showcaller(tmp_path / "home", tmp_path)
    with serving(showcaller) as first:
        async with over_stdio(showcaller, SHOWCALLER_TOKEN=first.token) as client:
            begun = time.monotonic()
            wait = await begin(client, has_progress=has_progress)
            call = asyncio.ensure_future(wait.once())
            if not dies:
                await answered(wait, call, begun)
                return
            await goes_on(call)
            killed(first)
            with serving(showcaller, "--port", str(first.port)):
                await answered(wait, call, begun)


@pytest.mark.parametrize("has_progress", [True, False], ids=["with a token", "without"])
async def test_a_wait_of_95_seconds_over_http(tmp_path: Path, has_progress: bool) -> None:
    with serving(Showcaller(tmp_path / "home", tmp_path)) as daemon:
        async with over_http(daemon, patience=PATIENCE) as client:
            begun = time.monotonic()
            wait = await begin(client, has_progress=has_progress)
            await answered(wait, asyncio.ensure_future(wait.once()), begun)


@pytest.mark.parametrize("has_progress", [True, False], ids=["with a token", "without"])
async def test_over_http_a_client_waits_again_when_its_relay_was_killed(
    tmp_path: Path, has_progress: bool
) -> None:
    """The official client gives up its connection then: its next one waits for the same message."""
    showcaller = Showcaller(tmp_path / "home", tmp_path)
    begun = time.monotonic()
    with serving(showcaller) as first:
        waits: list[Waiting] = []
        with pytest.raises(ExceptionGroup):
            await wait_until_killed(first, waits, has_progress=has_progress)
        with serving(showcaller, "--port", str(first.port)) as second:
            async with over_http(second, patience=PATIENCE) as client:
                wait = Waiting(client, waits[0].arguments, has_progress=has_progress)
                await answered(wait, asyncio.ensure_future(wait.once()), begun)


async def begin(client: ClientSession, *, has_progress: bool) -> Waiting:
    """Start a session that works for a while; gives who is to wait for it."""
    create = {"action": "create_session", "relay": "this", "text": f"sleep {WORKS_FOR}; echo done"}
    made = await Waiting(client, {**create, "wait_seconds": 0}, has_progress=False).once()
    named = {"session": made["session"], "message_id": made["message_id"], "wait_seconds": 95}
    return Waiting(client, {"action": "wait", "relay": "this", **named}, has_progress=has_progress)


async def goes_on(call: "asyncio.Future[dict[str, Any]]") -> None:
    done, _ = await asyncio.wait({call}, timeout=DIES_AFTER)
    assert not done


async def wait_until_killed(daemon: Daemon, waits: list[Waiting], *, has_progress: bool) -> None:
    """Kill a relay in the middle of a wait, of which its client hears."""
    async with over_http(daemon, patience=PATIENCE) as client:
        waits.append(await begin(client, has_progress=has_progress))
        call = asyncio.ensure_future(waits[0].once())
        await goes_on(call)
        killed(daemon)
        await call


async def answered(wait: Waiting, call: "asyncio.Future[dict[str, Any]]", begun: float) -> None:
    """The reply comes with this call; to a client without a progress token with the one after ``running``."""
    asked = time.monotonic()
    told = await call
    if not wait.has_progress:
        assert (told["status"], time.monotonic() - asked < CAP) == ("running", True)
        while told["status"] == "running":
            asked = time.monotonic()
            told = await wait.once()
            assert time.monotonic() - asked < CAP
    assert (told["status"], told["reply"]["text"]) == ("done", "done\n")
    assert WORKS_FOR <= time.monotonic() - begun < WORKS_FOR + 30
    assert bool(wait.heard) == wait.has_progress
