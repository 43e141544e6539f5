"""What asyncio's loop offers beside its tasks: timers, and calls from other threads."""

import asyncio
import gc
import statistics
import threading
import time

from bench.memory import resident
from bench.peers.asyncio_actors import (
    Inbox,
    LoopThread,
    answer,
    count_all,
    on_a_loop,
    request,
)
from bench.row import Measure
from bench.rows.timers_create import HOUR, lead
from bench.rows.timers_lateness import APART, p99
from bench.rows.wake_busy import busy_thread
from bench.rows.wake_idle import PAUSE


def ask_thread(count: int) -> float:
    inbox = Inbox()

    async def asked(message: int) -> int:
        return await request(inbox, message)

    with LoopThread() as loop:
        asyncio.run_coroutine_threadsafe(answer(inbox), loop)
        began = time.perf_counter()
        for number in range(count):
            asyncio.run_coroutine_threadsafe(asked(number), loop).result()
        took = time.perf_counter() - began
    return count / took


async def timers_create(count: int) -> float:
    inbox, loop = Inbox(), asyncio.get_running_loop()
    began = time.perf_counter()
    timers = [loop.call_later(HOUR + number, inbox.put_nowait, None) for number in range(count)]
    return len(timers) / (time.perf_counter() - began)


async def timers_fire(count: int) -> float:
    inbox, loop = Inbox(), asyncio.get_running_loop()
    due = loop.time() + lead(count)
    for _ in range(count):
        loop.call_at(due, inbox.put_nowait, None)
    await count_all(inbox, count)
    return count / (loop.time() - due)


async def timers_lateness(count: int) -> float:
    inbox, loop = Inbox(), asyncio.get_running_loop()
    first = loop.time() + lead(count)
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
        asyncio.run_coroutine_threadsafe(_say_when(inbox), loop)
        for _ in range(count):
            woken, at = threading.Event(), list[float]()
            time.sleep(PAUSE)
            began = time.perf_counter()
            loop.call_soon_threadsafe(inbox.put_nowait, (woken, at))
            woken.wait()
            took.append(at[0] - began)
    return took


def wake_idle(count: int) -> float:
    return statistics.median(_wake_ups(count))


def wake_busy(count: int) -> float:
    with busy_thread():
        return p99(_wake_ups(count))


JOBS: dict[str, Measure] = {
    "ask-thread": ask_thread,
    "timers-create": on_a_loop(timers_create),
    "timers-fire": on_a_loop(timers_fire),
    "timers-lateness": on_a_loop(timers_lateness),
    "timers-memory": on_a_loop(timers_memory),
    "wake-idle": wake_idle,
    "wake-busy": wake_busy,
}
