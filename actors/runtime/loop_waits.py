"""Waits for coroutines on asyncio loops (``on_loop``) that could never end.

A thread that runs a loop and blocks says so first (``BLOCKED_LOOPS``) and looks second, as an actor does
that waits: of several that close a cycle one at least sees it, and whoever finds it takes its wait back.
"""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.errors import AskCycle, LoopNotRunning
from showcaller.actors.runtime.long_waits import lock
from showcaller.actors.runtime.waits import BLOCKED_LOOPS, LoopWork, all_before

if TYPE_CHECKING:
    from showcaller.actors.runtime.futures import Future


def refuse_blocked_loop(future: "Future[Any]", loop: asyncio.AbstractEventLoop) -> None:
    """Raise ``AskCycle`` if a future waits for ``loop``, whose thread is about to block for it."""
    with lock:
        if loop not in _loops_of(future) or loop not in _loops_of(future):  # twice: see ``waits``
            return
        BLOCKED_LOOPS[loop] = None  # from here on nobody else finds it
    raise AskCycle("get() blocks the loop that is to run the coroutine: await it")


def refuse_closed_loop(future: "Future[Any]") -> None:
    """Raise ``LoopNotRunning`` if a future, or one it is made of, waits for a closed loop."""
    if type(future.answerer) in (tuple, LoopWork) and any(loop.is_closed() for loop in _loops_of(future)):
        raise LoopNotRunning("the loop was closed before its coroutine ended: this future will never be done")


def _loops_of(future: "Future[Any]") -> Iterator[asyncio.AbstractEventLoop]:
    """Give the loops that are to do what a future waits for."""
    for each, _ in all_before(future):
        if type(each.answerer) is LoopWork and not each.done:
            yield each.answerer.loop
