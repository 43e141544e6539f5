"""asyncio: each actor is a task that takes its messages from a queue of its own."""

import asyncio
import gc
import statistics
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from bench.memory import resident
from bench.row import Measure
from bench.rows.tell_many import ACTORS, EACH
from bench.rows.tell_one import ROUND
from bench.rows.timers_create import HOUR
from bench.rows.timers_lateness import APART, p99
from bench.rows.wake_busy import busy_thread
from bench.rows.wake_idle import PAUSE

Inbox = asyncio.Queue[Any]


def on_a_loop(job: Callable[[int], Coroutine[Any, Any, float]]) -> Measure:
    """Run a job on a fresh loop."""
    return lambda count: asyncio.run(job(count))


async def _count(inbox: Inbox, expected: int, finished: Callable[[], object]) -> None:
    for _ in range(expected):
        await inbox.get()
    finished()


async def _tell(targets: int, each: int, rounds: int) -> float:
    inboxes = [Inbox() for _ in range(targets)]
    async with asyncio.TaskGroup() as group:
        for inbox in inboxes:
            group.create_task(_count(inbox, each * rounds, lambda: None))
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
    await _cancel(tasks)
    return hops / took


async def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


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
    await _cancel(tasks)
    return took


async def _answer(inbox: Inbox) -> None:
    while True:
        message, reply = await inbox.get()
        reply.set_result(message)


def _request(inbox: Inbox, message: int) -> Awaitable[int]:
    reply: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    inbox.put_nowait((message, reply))
    return reply


async def ask(count: int) -> float:
    inbox = Inbox()
    task = asyncio.create_task(_answer(inbox))
    await asyncio.sleep(0)
    began = time.perf_counter()
    for number in range(count):
        await _request(inbox, number)
    took = time.perf_counter() - began
    await _cancel([task])
    return count / took


class LoopThread:
    """A loop that runs in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)

    def __enter__(self) -> asyncio.AbstractEventLoop:
        self.thread.start()
        return self.loop

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


def ask_thread(count: int) -> float:
    inbox = Inbox()

    async def asked(message: int) -> int:
        return await _request(inbox, message)

    with LoopThread() as loop:
        answering = asyncio.run_coroutine_threadsafe(_answer(inbox), loop)
        began = time.perf_counter()
        for number in range(count):
            asyncio.run_coroutine_threadsafe(asked(number), loop).result()
        took = time.perf_counter() - began
        asyncio.run_coroutine_threadsafe(_cancel(_tasks(loop, answering)), loop).result()
    return count / took


def _tasks(loop: asyncio.AbstractEventLoop, answering: Any) -> list[asyncio.Task[Any]]:
    answering.cancel()
    return list(asyncio.all_tasks(loop))


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
    await _cancel(tasks)
    return figure


async def spawn(count: int) -> float:
    began = time.perf_counter()
    inboxes = [Inbox() for _ in range(count)]
    tasks = [asyncio.create_task(_wait(inbox)) for inbox in inboxes]
    await asyncio.sleep(0)
    took = time.perf_counter() - began
    await _cancel(tasks)
    return took / count


async def stop(count: int) -> float:
    tasks = [asyncio.create_task(_wait(Inbox())) for _ in range(count)]
    await asyncio.sleep(0)
    began = time.perf_counter()
    await _cancel(tasks)
    return (time.perf_counter() - began) / count


async def timers_create(count: int) -> float:
    inbox, loop = Inbox(), asyncio.get_running_loop()
    began = time.perf_counter()
    timers = [loop.call_later(HOUR + number, inbox.put_nowait, None) for number in range(count)]
    return len(timers) / (time.perf_counter() - began)


async def timers_fire(count: int) -> float:
    inbox, loop = Inbox(), asyncio.get_running_loop()
    due = loop.time() + 0.1 + count * 5e-6
    for _ in range(count):
        loop.call_at(due, inbox.put_nowait, None)
    await _count(inbox, count, lambda: None)
    return count / (loop.time() - due)


async def timers_lateness(count: int) -> float:
    inbox, loop = Inbox(), asyncio.get_running_loop()
    first = loop.time() + 0.1 + count * 5e-6
    for number in range(count):
        loop.call_at(first + number * APART, inbox.put_nowait, first + number * APART)
    return p99([-(await inbox.get()) + loop.time() for _ in range(count)])


async def timers_memory(count: int) -> float:
    inbox, loop = Inbox(), asyncio.get_running_loop()
    gc.collect()
    before = resident()
    for number in range(count):
        loop.call_later(HOUR + number, inbox.put_nowait, None)
    gc.collect()
    return max(1.0, (resident() - before) / count)


async def _say_when(inbox: Inbox) -> None:
    while True:
        woken, at = await inbox.get()
        at.append(time.perf_counter())
        woken.set()


def _wake_ups(count: int) -> list[float]:
    inbox = Inbox()
    took = []
    with LoopThread() as loop:
        task = asyncio.run_coroutine_threadsafe(_say_when(inbox), loop)
        for _ in range(count):
            woken, at = threading.Event(), list[float]()
            time.sleep(PAUSE)
            began = time.perf_counter()
            loop.call_soon_threadsafe(inbox.put_nowait, (woken, at))
            woken.wait()
            took.append(at[0] - began)
        asyncio.run_coroutine_threadsafe(_cancel(_tasks(loop, task)), loop).result()
    return took


def wake_idle(count: int) -> float:
    return statistics.median(_wake_ups(count))


def wake_busy(count: int) -> float:
    with busy_thread():
        return p99(_wake_ups(count))


JOBS: dict[str, Measure] = {
    "tell-one": on_a_loop(tell_one),
    "tell-many": on_a_loop(tell_many),
    "ping-pong": on_a_loop(ping_pong),
    "ring": on_a_loop(ring),
    "fan-out": on_a_loop(fan_out),
    "ask": on_a_loop(ask),
    "ask-thread": ask_thread,
    "idle": on_a_loop(idle),
    "spawn": on_a_loop(spawn),
    "stop": on_a_loop(stop),
    "timers-create": on_a_loop(timers_create),
    "timers-fire": on_a_loop(timers_fire),
    "timers-lateness": on_a_loop(timers_lateness),
    "timers-memory": on_a_loop(timers_memory),
    "wake-idle": wake_idle,
    "wake-busy": wake_busy,
}
