"""The bridge to asyncio: a coroutine on a loop as a future that handlers can await."""

import asyncio
import concurrent.futures
from collections.abc import Coroutine
from typing import Any, TypeVar

from showcaller.actors.runtime.futures import Future

T = TypeVar("T")


def on_loop(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Run a coroutine on a running asyncio loop of another thread, and give a future to await in a handler.

    The future ends in what the coroutine returns or raises; a cancelled one ends in
    ``concurrent.futures.CancelledError``.
    """
    bridged: Future[T] = Future()

    def push(done: "concurrent.futures.Future[T]") -> None:
        try:
            bridged.try_set(done.result())
        except BaseException as error:  # CancelledError is no Exception, and is the answer here
            bridged.try_set_exception(error)

    asyncio.run_coroutine_threadsafe(coroutine, loop).add_done_callback(push)
    return bridged
