"""A loop that closes tells whoever waits for its coroutines, and needs no garbage collector for that."""

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, Dispatcher, Future, LoopNotRunning, on_loop


class Stage:
    """A loop in a thread of its own, and a coroutine that never ends there."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.begun = threading.Event()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()

    async def never(self) -> None:
        self.begun.set()
        await asyncio.wait_for(self.loop.create_future(), 1000)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def close(self) -> None:
        """Stop and close it with what is under way."""
        for task in asyncio.all_tasks(self.loop):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
        self.loop.close()


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Give a loop that runs, while nothing is collected that holds itself."""
    gc.disable()
    stage = Stage()
    yield stage
    if stage.thread.is_alive():
        stage.stop()
    stage.close()
    gc.enable()


class Awaiting(Actor):
    registered = False

    async def on_receive(self, message: Stage) -> Any:
        return await on_loop(message.loop, message.never())


class Blocking(Actor):
    registered = False

    def on_receive(self, message: Stage) -> Any:
        return on_loop(message.loop, message.never()).get()


WAITS: list[Callable[[Stage], Future[Any]]] = [
    lambda stage: on_loop(stage.loop, stage.never()),
    lambda stage: on_loop(stage.loop, stage.never()).map(str),
    lambda stage: Awaiting.start().request(stage),
    lambda stage: Blocking.start().request(stage),
]


@pytest.mark.parametrize("wait", WAITS)
def test_whoever_waits_is_told(
    wait: Callable[[Stage], Future[Any]], stage: Stage, threads: Dispatcher
) -> None:
    answer = wait(stage)
    assert stage.begun.wait(10)
    stage.stop()
    assert not answer.done
    stage.close()
    with pytest.raises(LoopNotRunning, match="was closed before its coroutine ended"):
        answer.get(timeout=10)


def test_so_is_who_waits_for_what_had_not_begun(stage: Stage) -> None:
    held = threading.Event()

    def hold() -> None:
        stage.begun.set()
        held.wait(10)
        stage.loop.stop()

    stage.loop.call_soon_threadsafe(hold)
    assert stage.begun.wait(10)
    answer = on_loop(stage.loop, stage.never())
    held.set()
    stage.thread.join()
    stage.close()
    with pytest.raises(LoopNotRunning, match="was closed"):
        answer.get(timeout=10)


def test_a_loop_that_goes_on_later_ends_what_it_has_begun(stage: Stage) -> None:
    loop, gate = stage.loop, asyncio.Event()

    async def behind_the_gate() -> str:
        stage.begun.set()
        await gate.wait()
        return "there"

    answer = on_loop(loop, behind_the_gate())
    assert stage.begun.wait(10)
    stage.stop()
    gate.set()
    loop.run_until_complete(gate.wait())
    loop.run_until_complete(asyncio.sleep(0))
    assert answer.get(timeout=0) == "there"


def test_nothing_of_what_has_ended_is_kept(stage: Stage) -> None:
    async def there() -> str:
        return "there"

    answers = [on_loop(stage.loop, there()) for _ in range(3)]
    assert [answer.get(timeout=10) for answer in answers] == ["there"] * 3
    stage.stop()
    (ours,) = stage.loop._scheduled  # type: ignore[attr-defined]
    assert not ours._callback.under_way
    assert not ours._callback.unbegun


@pytest.mark.parametrize("given", ["text", None, Future[None]()])
def test_what_is_no_coroutine_is_refused_in_words(given: Any, stage: Stage) -> None:
    with pytest.raises(TypeError, match="on_loop runs a coroutine"):
        on_loop(stage.loop, given)
