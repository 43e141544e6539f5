"""Waits for a loop that could never end are refused: its own thread blocks, or it runs no more."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, AskCycle, Dispatcher, Future, LoopNotRunning, on_loop

Loop = asyncio.AbstractEventLoop


async def _there() -> str:
    return "there"


class Bridging(Actor):
    """Awaits a coroutine on the loop that it is sent."""

    registered = False

    async def on_receive(self, message: Loop) -> Any:
        return await on_loop(message, _there())


class Aside(Bridging):
    """Does so beside other messages."""

    reentrant = True


class Mapping(Bridging):
    """Awaits what is derived from it."""

    async def on_receive(self, message: Loop) -> Any:
        return await on_loop(message, _there()).map(str)


class Blocking(Bridging):
    """Blocks for it."""

    def on_receive(self, message: Loop) -> Any:
        return on_loop(message, _there()).get(timeout=10)


class Asking(Actor):
    """Asks another one, who bridges."""

    registered = False

    def on_receive(self, message: Loop) -> Any:
        return Bridging.start().ask(message, timeout=10)


WAITS: list[Callable[[Loop], Any]] = [
    lambda loop: on_loop(loop, _there()).get(timeout=10),
    lambda loop: on_loop(loop, _there()).map(str).get(timeout=10),
    lambda loop: on_loop(loop, _there()).join(on_loop(loop, _there())).get(timeout=10),
    *[
        lambda loop, kind=kind: kind.start().ask(loop, timeout=10)
        for kind in (Bridging, Aside, Mapping, Blocking, Asking)
    ],
]


@pytest.mark.parametrize("wait", WAITS)
def test_who_blocks_the_loop_that_is_to_answer_is_refused(
    wait: Callable[[Loop], Any], threads: Dispatcher
) -> None:
    async def main() -> None:
        with pytest.raises(AskCycle, match="loop that is to run the coroutine"):
            wait(asyncio.get_running_loop())

    asyncio.run(main())


def test_an_actor_that_waits_for_the_loop_already_is_no_cycle_to_await(threads: Dispatcher) -> None:
    async def main() -> tuple[Any, Any]:
        loop = asyncio.get_running_loop()
        waits = Bridging.start().request(loop)
        with pytest.raises(AskCycle, match="get\\(\\) blocks the loop"):
            on_loop(loop, _awaiting(waits)).get(timeout=10)
        return await waits, await on_loop(loop, _awaiting(waits))

    assert asyncio.run(main()) == ("there", "there")


def test_another_thread_may_block_for_the_loop(threads: Dispatcher) -> None:
    async def main() -> Any:
        loop = asyncio.get_running_loop()
        return await asyncio.to_thread(Blocking.start().ask, loop, timeout=10)

    assert asyncio.run(main()) == "there"


def test_a_loop_that_does_not_run_is_refused() -> None:
    loop = asyncio.new_event_loop()
    for _ in ("idle", "closed"):
        with pytest.raises(LoopNotRunning, match="does not run"):
            on_loop(loop, _there())
        loop.close()


@pytest.mark.parametrize("derive", [lambda future: future, lambda future: future.map(str)])
def test_what_a_closed_loop_owes_is_not_waited_for(derive: Callable[[Future[Any]], Future[Any]]) -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    owed = on_loop(loop, _never())
    on_loop(loop, _there()).get(timeout=10)  # the other one waits by now
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()
    with pytest.raises(LoopNotRunning, match="was closed"):
        derive(owed).get(timeout=10)


async def _never() -> None:
    await asyncio.get_running_loop().create_future()


async def _awaiting(future: Future[Any]) -> Any:
    return await future
