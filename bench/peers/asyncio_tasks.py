"""asyncio: each actor is a task that takes its messages from a queue of its own."""

import asyncio
import gc
import time

from bench.memory import resident
from bench.peers import asyncio_loop
from bench.peers.asyncio_actors import Inbox, answer, cancel, count_all, on_a_loop, request
from bench.row import Measure
from bench.rows.tell_many import ACTORS, EACH
from bench.rows.tell_one import ROUND


async def _tell(targets: int, each: int, rounds: int) -> float:
    inboxes = [Inbox() for _ in range(targets)]
    async with asyncio.TaskGroup() as group:
        for inbox in inboxes:
            group.create_task(count_all(inbox, each * rounds))
        await asyncio.sleep(0)
        began = time.perf_counter()
        for _ in range(rounds):
            for number in range(each):
                for inbox in inboxes:
                    inbox.put_nowait(number)
            await asyncio.sleep(0)
    return targets * each * rounds / (time.perf_counter() - began)


async def tell_one(count: int) -> float:
    return await _tell(1, ROUND, max(1, count // ROUND))


async def tell_many(count: int) -> float:
    return await _tell(ACTORS, EACH, max(1, count // (ACTORS * EACH)))


async def _member(inbox: Inbox, neighbour: Inbox, finished: asyncio.Event) -> None:
    while True:
        left = await inbox.get()
        if not left:
            finished.set()
        neighbour.put_nowait(left - 1)


async def _hops(actors: int, hops: int) -> float:
    finished = asyncio.Event()
    inboxes = [Inbox() for _ in range(actors)]
    pairs = zip(inboxes, inboxes[1:] + inboxes[:1], strict=True)
    tasks = [asyncio.create_task(_member(*pair, finished)) for pair in pairs]
    await asyncio.sleep(0)
    began = time.perf_counter()
    inboxes[0].put_nowait(hops)
    await finished.wait()
    took = time.perf_counter() - began
    await cancel(tasks)
    return hops / took


async def ping_pong(count: int) -> float:
    return await _hops(2, 2 * count) / 2


async def ring(count: int) -> float:
    return await _hops(ACTORS, count)


async def _reply(inbox: Inbox) -> None:
    while True:
        sender = await inbox.get()
        sender.put_nowait(1)


async def fan_out(count: int) -> float:
    own = Inbox()
    inboxes = [Inbox() for _ in range(count)]
    tasks = [asyncio.create_task(_reply(inbox)) for inbox in inboxes]
    await asyncio.sleep(0)
    began = time.perf_counter()
    for inbox in inboxes:
        inbox.put_nowait(own)
    for _ in inboxes:
        await own.get()
    took = time.perf_counter() - began
    await cancel(tasks)
    return took


async def ask(count: int) -> float:
    inbox = Inbox()
    task = asyncio.create_task(answer(inbox))
    await asyncio.sleep(0)
    began = time.perf_counter()
    for number in range(count):
        await request(inbox, number)
    took = time.perf_counter() - began
    await cancel([task])
    return count / took


async def _wait(inbox: Inbox) -> None:
    while await inbox.get():
        pass


async def idle(count: int) -> float:
    gc.collect()
    before = resident()
    inboxes = [Inbox() for _ in range(count)]
    tasks = [asyncio.create_task(_wait(inbox)) for inbox in inboxes]
    await asyncio.sleep(0)
    gc.collect()
    figure = max(1.0, (resident() - before) / count)
    await cancel(tasks)
    return figure


async def spawn(count: int) -> float:
    began = time.perf_counter()
    inboxes = [Inbox() for _ in range(count)]
    tasks = [asyncio.create_task(_wait(inbox)) for inbox in inboxes]
    await asyncio.sleep(0)
    took = time.perf_counter() - began
    await cancel(tasks)
    return took / count


async def stop(count: int) -> float:
    tasks = [asyncio.create_task(_wait(Inbox())) for _ in range(count)]
    await asyncio.sleep(0)
    began = time.perf_counter()
    await cancel(tasks)
    return (time.perf_counter() - began) / count


JOBS: dict[str, Measure] = {
    "tell-one": on_a_loop(tell_one),
    "tell-many": on_a_loop(tell_many),
    "ping-pong": on_a_loop(ping_pong),
    "ring": on_a_loop(ring),
    "fan-out": on_a_loop(fan_out),
    "ask": on_a_loop(ask),
    "idle-actor": on_a_loop(idle),
    "spawn": on_a_loop(spawn),
    "stop": on_a_loop(stop),
    **asyncio_loop.JOBS,
}
