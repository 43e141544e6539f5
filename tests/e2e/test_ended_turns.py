"""What an agent has under way ends with its turn, by whichever door it calls."""

import asyncio
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.e2e.daemon import Daemon, serving
from tests.e2e.mcp_client import called, over_http
from tests.e2e.program import LIMIT, Showcaller

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    folder: Path = tmp_path_factory.mktemp("ended")
    with serving(Showcaller(folder / "home", folder)) as daemon, daemon.owner as owner:
        for switch in ("agent_sessions", "unsafe_no_cards", "providers.command.agents_may_start"):
            assert owner.put(f"/api/settings/{switch}", json={"value": True}).is_success
        yield daemon


class Scene(NamedTuple):
    """An agent in a turn that goes on, by its session and token, and a session that is at work, too."""

    owner: httpx.AsyncClient
    session: str
    token: str
    other: str

    async def call(self, action: str, **more: Any) -> dict[str, Any]:
        """Call as the owner."""
        answer = await self.owner.post("/api/call", json={"action": action, "relay": "this", **more})
        result: dict[str, Any] = answer.json()
        assert result["ok"], result
        return result

    async def is_sent(self, text: str) -> None:
        """Wait until the agent's prompt is stored, after which it is only waited for."""
        async with asyncio.timeout(LIMIT):
            while text not in str(await self.call("read_session", session=self.other)):
                pass


@asynccontextmanager
async def scene(daemon: Daemon, folder: Path) -> AsyncGenerator[Scene]:
    """Have two commands run that end when they are stopped."""
    gate, pipe = folder / "gate", folder / "pipe"
    for each in (gate, pipe):
        os.mkfifo(each)
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{daemon.port}",
        headers={"authorization": f"Bearer {daemon.token}"},
        timeout=LIMIT,
        trust_env=False,
    ) as owner:
        empty = Scene(owner, "", "", "")
        text = f"echo $SHOWCALLER_TOKEN > {pipe}; read line < {gate}"
        made = await empty.call("create_session", text=text, wait_seconds=0)
        token = (await asyncio.to_thread(pipe.read_text)).strip()
        other = await empty.call("create_session", text=f"read line < {gate}", wait_seconds=0)
        yield Scene(owner, made["session"], token, other["session"])
        await empty.call("stop", session=other["session"])


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_a_call_over_http_ends_with_the_turn(daemon: Daemon, tmp_path: Path, how: str) -> None:
    async with scene(daemon, tmp_path) as here:
        call = {
            "action": "send",
            "relay": "this",
            "session": here.other,
            "text": "echo it",
            "wait_seconds": 50,
        }
        headers = {"authorization": f"Bearer {here.token}"}
        waiting = asyncio.ensure_future(here.owner.post("/api/call", json=call, headers=headers))
        await here.is_sent("echo it")
        if how == "stop":
            await here.call("stop", session=here.session)
        else:
            assert (await here.owner.post("/api/acts/kill", json={"session": here.session})).is_success
        answer = await waiting
        assert (answer.status_code, answer.json()["code"]) == (409, "REMOTE_RELAY_CANCELLED")
        later = await here.owner.post("/api/call", json=call, headers=headers)
        assert later.json()["code"] == "REMOTE_RELAY_UNAUTHENTICATED"


async def test_a_call_over_mcp_ends_with_the_turn(daemon: Daemon, tmp_path: Path) -> None:
    async with scene(daemon, tmp_path) as here, over_http(daemon, here.token) as agent:
        await agent.list_tools()  # the client wants to know the tool, and could not ask later
        waiting = asyncio.ensure_future(
            called(agent, action="send", session=here.other, text="echo it", wait_seconds=50)
        )
        await here.is_sent("echo it")
        await here.call("stop", session=here.session)
        assert (await waiting)["code"] == "REMOTE_RELAY_CANCELLED"
