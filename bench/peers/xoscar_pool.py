"""xoscar: actors of one pool in this process, called through their refs."""

import asyncio
import gc
import time
from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import Any

from bench.memory import resident
from bench.row import Measure
from bench.rows.tell_many import ACTORS, EACH
from bench.rows.tell_one import ROUND

xo: Any = import_module("xoscar")  # without types, and not always installed

Job = Callable[[str, int], Coroutine[Any, Any, float]]


def in_a_pool(job: Job) -> Measure:
    """Run a job beside a fresh pool, on a fresh loop."""

    async def run(count: int) -> float:
        pool = await xo.create_actor_pool("127.0.0.1", n_process=0)
        async with pool:
            return await job(pool.external_address, count)

    return lambda count: asyncio.run(run(count))


async def _all(actor_class: type, address: str, count: int, *arguments: Any) -> list[Any]:
    return [await xo.create_actor(actor_class, *arguments, address=address) for _ in range(count)]


class Counter(xo.Actor):  # type: ignore[misc]
    """Counts what it is told."""

    def __init__(self, expected: int, finished: asyncio.Event) -> None:
        self.left = expected
        self.finished = finished

    def count(self) -> None:
        self.left -= 1
        if not self.left:
            self.finished.set()


class Sender(xo.Actor):  # type: ignore[misc]
    """Tells all targets by turns."""

    async def send(self, targets: list[Any], each: int) -> None:
        for _ in range(each):
            for target in targets:
                await target.count.tell()


async def _tell(address: str, targets: int, each: int, rounds: int) -> float:
    events = [asyncio.Event() for _ in range(targets)]
    counters = [await xo.create_actor(Counter, each * rounds, event, address=address) for event in events]
    (sender,) = await _all(Sender, address, 1)
    began = time.perf_counter()
    for _ in range(rounds):
        await sender.send(counters, each)
    for event in events:
        await event.wait()
    return targets * each * rounds / (time.perf_counter() - began)


async def tell_one(address: str, count: int) -> float:
    return await _tell(address, 1, ROUND, max(1, count // ROUND))


async def tell_many(address: str, count: int) -> float:
    return await _tell(address, ACTORS, EACH, max(1, count // (ACTORS * EACH)))


class Member(xo.Actor):  # type: ignore[misc]
    """Passes a number on, one less each time, to its neighbour."""

    def __init__(self, finished: asyncio.Event) -> None:
        self.neighbour: Any = None
        self.finished = finished

    def link(self, neighbour: Any) -> None:
        self.neighbour = neighbour

    async def hop(self, left: int) -> None:
        if left:
            await self.neighbour.hop.tell(left - 1)
        else:
            self.finished.set()


async def _hops(address: str, actors: int, hops: int) -> float:
    finished = asyncio.Event()
    members = await _all(Member, address, actors, finished)
    for member, neighbour in zip(members, members[1:] + members[:1], strict=True):
        await member.link(neighbour)
    began = time.perf_counter()
    await members[0].hop.tell(hops)
    await finished.wait()
    return hops / (time.perf_counter() - began)


async def ping_pong(address: str, count: int) -> float:
    return await _hops(address, 2, 2 * count) / 2


async def ring(address: str, count: int) -> float:
    return await _hops(address, ACTORS, count)


class Replier(xo.Actor):  # type: ignore[misc]
    """Answers what it is asked; tells whoever it is given."""

    async def reply(self, sender: Any) -> None:
        await sender.count.tell()

    def answer(self, message: int) -> int:
        return message


class Coordinator(xo.Actor):  # type: ignore[misc]
    """Tells all."""

    async def fan_out(self, repliers: list[Any], sink: Any) -> None:
        for replier in repliers:
            await replier.reply.tell(sink)


async def fan_out(address: str, count: int) -> float:
    finished = asyncio.Event()
    repliers = await _all(Replier, address, count)
    sink = await xo.create_actor(Counter, count, finished, address=address)
    (coordinator,) = await _all(Coordinator, address, 1)
    began = time.perf_counter()
    await coordinator.fan_out(repliers, sink)
    await finished.wait()
    return time.perf_counter() - began


class Asker(xo.Actor):  # type: ignore[misc]
    """Awaits one reply after the other."""

    async def ask(self, answerer: Any, count: int) -> None:
        for number in range(count):
            await answerer.answer(number)


async def ask(address: str, count: int) -> float:
    (answerer,) = await _all(Replier, address, 1)
    (asker,) = await _all(Asker, address, 1)
    began = time.perf_counter()
    await asker.ask(answerer, count)
    return count / (time.perf_counter() - began)


async def idle(address: str, count: int) -> float:
    gc.collect()
    before = resident()
    refs = await _all(Replier, address, count)
    gc.collect()
    return max(1.0, (resident() - before) / len(refs))


async def spawn(address: str, count: int) -> float:
    began = time.perf_counter()
    await _all(Replier, address, count)
    return (time.perf_counter() - began) / count


async def stop(address: str, count: int) -> float:
    refs = await _all(Replier, address, count)
    began = time.perf_counter()
    for ref in refs:
        await xo.destroy_actor(ref)
    return (time.perf_counter() - began) / count


JOBS: dict[str, Measure] = {
    "tell-one": in_a_pool(tell_one),
    "tell-many": in_a_pool(tell_many),
    "ping-pong": in_a_pool(ping_pong),
    "ring": in_a_pool(ring),
    "fan-out": in_a_pool(fan_out),
    "ask": in_a_pool(ask),
    "idle-actor": in_a_pool(idle),
    "spawn": in_a_pool(spawn),
    "stop": in_a_pool(stop),
}
