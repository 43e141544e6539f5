"""An actor of asyncio: a task that takes its messages from a queue of its own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from bench.row import Measure

Inbox = asyncio.Queue[Any]


def on_a_loop(job: Callable[[int], Coroutine[Any, Any, float]]) -> Measure:
    """Run a job on a fresh loop."""
    return lambda count: asyncio.run(job(count))


async def count_all(inbox: Inbox, expected: int) -> None:
    for _ in range(expected):
        await inbox.get()


async def cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def answer(inbox: Inbox) -> None:
    while True:
        message, reply = await inbox.get()
        reply.set_result(message)


def request(inbox: Inbox, message: int) -> Awaitable[int]:
    reply: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    inbox.put_nowait((message, reply))
    return reply


class LoopThread:
    """A loop that runs in a thread of its own; its tasks end with it."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)

    def __enter__(self) -> asyncio.AbstractEventLoop:
        self.thread.start()
        return self.loop

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(cancel_others(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


async def cancel_others() -> None:
    await cancel([task for task in asyncio.all_tasks() if task is not asyncio.current_task()])
