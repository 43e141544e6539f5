"""Telling a client that its call goes on, so that it does not take the relay for dead."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from showcaller.actors.contract.limits import PROGRESS_SECONDS

Pause = Callable[[float], Awaitable[object]]
"""Waits for so many seconds; tests have one of their own."""
Report = Callable[[float, str], Awaitable[object]]
"""Tells a client how many seconds have passed, which only grow, and the same in words."""

logger = logging.getLogger("showcaller.mcp")

_Result = TypeVar("_Result")
_WORDS: Final = "Still waiting, for {} s now."


async def pause(seconds: float) -> None:
    """Wait for so many seconds by the running loop's clock."""
    loop = asyncio.get_running_loop()
    passed: asyncio.Future[None] = loop.create_future()
    timer = loop.call_later(seconds, passed.set_result, None)
    try:
        await passed
    finally:
        timer.cancel()


async def with_progress(call: Awaitable[_Result], report: Report, wait: Pause = pause) -> _Result:
    """Await a call, and meanwhile report every 25 seconds how long it has taken."""
    reporting = asyncio.ensure_future(_report(report, wait))
    try:
        return await call
    finally:
        reporting.cancel()
        await asyncio.wait({reporting})  # no report after the answer
        if not reporting.cancelled():  # it never ends by itself, and the answer still matters
            logger.warning("A client was not told of progress", exc_info=reporting.exception())


async def _report(report: Report, wait: Pause) -> Any:
    seconds = 0
    while True:
        await wait(PROGRESS_SECONDS)
        seconds += PROGRESS_SECONDS
        await report(float(seconds), _WORDS.format(seconds))
