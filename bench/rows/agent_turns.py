"""Turns of an agent that answers at once: through the relay and a worker, and by a bare client.

The agent is ``instant_agent.py``, a program of the standard library. The bare client is the protocol's own
package and nothing else: what a program pays that runs one agent, keeps nothing and survives nothing.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench import instant_agent
from bench.instant_agent import REPLY
from bench.quantities import Unit
from bench.row import Row

if TYPE_CHECKING:
    from showcaller.assembly import RelayParts

COMMAND: Final = (sys.executable, "-S", "-E", instant_agent.__file__)
PROMPT: Final = "say hello"


class Bare:
    """A client that only gathers what the agent says."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Take a piece of a reply."""
        if update.session_update == "agent_message_chunk":
            self.said.append(update.content.text)

    def on_connect(self, conn: Any) -> None:
        """Do nothing: it never speaks by itself."""


class BareTurns:
    """Prompts one agent by a bare client."""

    def __init__(self, connection: Any, client: Bare, session: str) -> None:
        self._connection = connection
        self._client = client
        self._session = session

    async def once(self) -> float:
        """Give the seconds of one turn."""
        from acp import text_block

        self._client.said.clear()
        began = time.perf_counter()
        await self._connection.prompt(session_id=self._session, prompt=[text_block(PROMPT)])
        took = time.perf_counter() - began
        if "".join(self._client.said).strip() != REPLY:
            raise RuntimeError(f"the agent said {self._client.said} to a bare client")
        return took


@asynccontextmanager
async def bare_turns(place: Path) -> AsyncGenerator[BareTurns]:
    """Start an agent for a bare client, which has had its first prompt."""
    from acp import PROTOCOL_VERSION, spawn_agent_process

    client: Any = Bare()
    async with spawn_agent_process(client, *COMMAND, cwd=place) as (connection, _):
        await connection.initialize(protocol_version=PROTOCOL_VERSION)
        new = await connection.new_session(cwd=str(place), mcp_servers=[])
        turns = BareTurns(connection, client, new.session_id)
        await turns.once()
        yield turns


class RelayTurns:
    """Prompts one agent through a relay and its worker process."""

    def __init__(self, parts: "RelayParts", place: Path) -> None:
        self._parts = parts
        self._place = place
        self._session = ""

    async def begin(self) -> None:
        """Start the session, and with it the agent."""
        call = {"action": "create_session", "provider": "instant", "cwd": str(self._place)}
        self._session = str((await self._prompted(call))["session"])

    async def once(self) -> float:
        """Give the seconds of one turn."""
        began = time.perf_counter()
        await self._prompted({"action": "send", "session": self._session})
        return time.perf_counter() - began

    async def _prompted(self, call: dict[str, Any]) -> dict[str, Any]:
        asked = {"relay": "this", "text": PROMPT, "wait_seconds": 60, **call}
        result = await self._parts.door.call_async(asked)
        if result.get("status") != "done" or result["reply"]["text"].strip() != REPLY:
            raise RuntimeError(f"{call} did not end as it should: {result}")
        return result


@contextmanager
def opened(place: Path) -> Generator[RelayTurns]:
    """Give a relay, in a process set up as the daemon's, whose owner has described the agent."""
    from showcaller.assembly import open_parts
    from showcaller.data_folder import DataFolder
    from showcaller.transport.process_tuning import tune

    with ExitStack() as stack:
        folder = DataFolder(place / "home")
        folder.make()
        (folder.path / "providers.toml").write_text(
            f'[providers.instant]\nlabel = "Instant"\ncommand = {json.dumps(COMMAND)}\n'
        )
        stack.enter_context(folder.lock())
        parts = open_parts(folder, stack, worker_count=1)
        tune()
        yield RelayTurns(parts, place)
        parts.door.close()
        parts.workers.end()


def through_relay(count: int) -> float:
    """Give the median of the seconds that a turn takes through the relay."""

    async def run(turns: RelayTurns) -> float:
        await turns.begin()
        return statistics.median([await turns.once() for _ in range(count)])

    with tempfile.TemporaryDirectory(prefix="bench-agent-") as place, opened(Path(place)) as turns:
        return asyncio.run(run(turns))


def by_bare_client(count: int) -> float:
    """Give the median of the seconds that a turn takes with a bare client."""

    async def run(place: Path) -> float:
        async with bare_turns(place) as turns:
            return statistics.median([await turns.once() for _ in range(count)])

    with tempfile.TemporaryDirectory(prefix="bench-agent-") as place:
        return asyncio.run(run(Path(place)))


def overhead(count: int) -> float:
    """Give by how many seconds the median turn is longer through the relay, of turns taken in turns."""

    async def run(served: RelayTurns, place: Path) -> float:
        await served.begin()
        async with bare_turns(place) as bare:
            pairs = [(await served.once(), await bare.once()) for _ in range(count)]
        return statistics.median(ours for ours, _ in pairs) - statistics.median(theirs for _, theirs in pairs)

    with tempfile.TemporaryDirectory(prefix="bench-agent-") as place, opened(Path(place)) as turns:
        return asyncio.run(run(turns, Path(place)))


TURN = Row(
    name="acp-turn",
    title="a turn of an agent, one at a time, p50, durable (plain: a bare client)",
    unit=Unit.SECONDS,
    measure=through_relay,
    count=300,
    tiny=3,
    fixed=True,
    plain=by_bare_client,
)
OVERHEAD = Row(
    name="acp-overhead",
    title="what such a turn costs over the bare client, p50, taken in turns",
    unit=Unit.SECONDS,
    measure=overhead,
    count=300,
    tiny=3,
    fixed=True,
    limit=0.003,
)
ROWS: Final = (TURN, OVERHEAD)
