"""Prompts through a worker process and back, durable: instant Python functions, so that the way is measured.

The plain form of the prompts is the way without the process: the worker is a thread of the relay's. That of
the fan-out does the job with nothing of ours: a pool of so many threads, and no record of anything.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.quantities import Unit
from bench.row import Row

if TYPE_CHECKING:
    from showcaller.assembly import RelayParts

SESSIONS: Final = 64
JOBS: Final = 64
FUNCTION: Final = "callable:instant:give"
MODULE: Final = "def give(item):\n    return item\n"


@contextmanager
def opened(worker_count: int | None) -> Generator[tuple["RelayParts", str]]:
    """Give a relay, in a process set up as the daemon's, and a folder with the function.

    Its workers end with it.
    """
    from showcaller.assembly import open_parts
    from showcaller.data_folder import DataFolder
    from showcaller.transport.process_tuning import tune

    with tempfile.TemporaryDirectory(prefix="bench-worker-") as place, ExitStack() as stack:
        functions = Path(place) / "functions"
        functions.mkdir()
        (functions / "instant.py").write_text(MODULE)
        folder = DataFolder(Path(place) / "home")
        folder.make()
        stack.enter_context(folder.lock())
        parts = open_parts(folder, stack, worker_count=worker_count)
        tune()
        yield parts, str(functions)
        parts.door.close()
        parts.workers.end()


async def prompted(parts: "RelayParts", call: dict[str, Any]) -> dict[str, Any]:
    """Prompt a session, wait for its reply, and give the result; raises ``RuntimeError`` without a reply."""
    result = await parts.door.call_async({"relay": "this", "text": "x", "wait_seconds": 60, **call})
    if not result["ok"] or result["status"] != "done":
        raise RuntimeError(f"{call} did not end as done: {result}")
    return result


async def session(parts: "RelayParts", folder: str) -> str:
    """Start a session that has had its first prompt."""
    begun = await prompted(parts, {"action": "create_session", "provider": FUNCTION, "cwd": folder})
    return str(begun["session"])


def prompts(worker_count: int | None, count: int) -> float:
    """Give the turns per second of sessions that are prompted again as soon as they have replied."""

    async def run(parts: "RelayParts", folder: str) -> float:
        sessions = [await session(parts, folder) for _ in range(min(SESSIONS, count))]
        turns = count // len(sessions)

        async def again(name: str) -> None:
            for _ in range(turns):
                await prompted(parts, {"action": "send", "session": name})

        began = time.perf_counter()
        await asyncio.gather(*(again(name) for name in sessions))
        return turns * len(sessions) / (time.perf_counter() - began)

    with opened(worker_count) as (parts, folder):
        return asyncio.run(run(parts, folder))


def latency(worker_count: int | None, count: int) -> float:
    """Give the median of the seconds that one prompt takes while nothing else runs."""

    async def run(parts: "RelayParts", folder: str) -> float:
        name = await session(parts, folder)
        took = []
        for _ in range(count):
            began = time.perf_counter()
            await prompted(parts, {"action": "send", "session": name})
            took.append(time.perf_counter() - began)
        return statistics.median(took)

    with opened(worker_count) as (parts, folder):
        return asyncio.run(run(parts, folder))


def fan_out(count: int) -> float:
    """Give the seconds from the start of a fan-out to its last stored result."""
    from showcaller.actors.contract.fanout import FanoutSpec

    with opened(1) as (parts, folder):
        spec = FanoutSpec(kind="callable", template="instant:give", provider=FUNCTION, jobs=JOBS, cwd=folder)
        began = time.perf_counter()
        ends = [end.status for end in parts.door.start_fanout(spec, list(range(count))).results()]
        took = time.perf_counter() - began
    if ends.count("done") != count:
        raise RuntimeError(f"{count - ends.count('done')} of {count} did not end as done: {set(ends)}")
    return took


def thread_pool(count: int) -> float:
    """Give the seconds that a pool of threads takes for the same items."""
    names: dict[str, Any] = {}
    exec(MODULE, names)  # the very function of the other form
    began = time.perf_counter()
    with ThreadPoolExecutor(JOBS) as pool:
        for _ in pool.map(names["give"], range(count)):
            pass
    return time.perf_counter() - began


PROMPTS = Row(
    name="worker-prompts",
    title="prompts through a worker process and back, 64 sessions, durable",
    unit=Unit.RATE,
    measure=lambda count: prompts(1, count),
    count=6_400,
    tiny=64,
    fixed=True,
    limit=3_000.0,
    plain=lambda count: prompts(None, count),
)
LATENCY = Row(
    name="worker-latency",
    title="a prompt through a worker process and back, one at a time, p50, durable",
    unit=Unit.SECONDS,
    measure=lambda count: latency(1, count),
    count=500,
    tiny=5,
    fixed=True,
    limit=0.003,
    plain=lambda count: latency(None, count),
)
FAN_OUT = Row(
    name="worker-fan-out",
    title="fan-out of 10,000 functions through a worker process, 64 at a time, durable",
    unit=Unit.SECONDS,
    measure=fan_out,
    count=10_000,
    tiny=20,
    fixed=True,
    limit=5.0,
    plain=thread_pool,
)
ROWS: Final = (PROMPTS, LATENCY, FAN_OUT)
