"""What a call cannot mean is refused by that call, in words, and nothing is sent."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, ActorRef, Dispatcher, Future, hand_on
from showcaller.actors.runtime.testkit import ManualDispatcher, probe

WRONG: Any = 5
TEXT: Any = "x"


def test_only_a_reply_can_be_passed_on(manual: ManualDispatcher) -> None:
    ref, got = probe()
    with pytest.raises(TypeError, match="a reply to pass on cannot be 5"):
        ref.forward("message", WRONG)
    with pytest.raises(TypeError, match="a reply to pass on cannot be 5"):
        hand_on(WRONG)
    with pytest.raises(TypeError, match="a reply cannot be handed on to 5"):
        hand_on(Future(), WRONG)
    manual.settle()
    assert got == []


def test_only_futures_can_be_joined() -> None:
    with pytest.raises(TypeError, match="5 cannot be joined: give futures"):
        Future[Any]().join(WRONG)


def test_an_interval_is_a_number_of_seconds(manual: ManualDispatcher) -> None:
    ref, got = probe()
    with pytest.raises(TypeError, match="seconds, not 'x'"):
        ref.tell_every(TEXT, "tick")
    manual.advance(10)
    assert got == []


def test_a_stop_with_a_nonsensical_timeout_stops_nobody(manual: ManualDispatcher) -> None:
    ref, _ = probe()
    with pytest.raises(TypeError, match="seconds, not 'x'"):
        ref.stop(timeout=TEXT)
    manual.settle()
    assert ref.is_alive()


def test_a_nonsensical_timeout_is_told_as_one(manual: ManualDispatcher) -> None:
    ref, got = probe()
    for call in (ref.request, ref.ask):
        with pytest.raises(TypeError, match=r"a timeout must be fewer than 1e.11 seconds, not 'x'"):
            call("message", timeout=TEXT)
    manual.settle()
    assert got == []


def test_asyncio_wait_is_told_what_to_take_instead(threads: Dispatcher) -> None:
    class Echo(Actor):
        registered = False

        def on_receive(self, message: Any) -> Any:
            return message

    async def main() -> Any:
        echo: ActorRef[Any] = Echo.start()
        wrong: Any = [echo.request(1)]
        with pytest.raises(TypeError, match=r"asyncio\.ensure_future\(ref\.request"):
            await asyncio.wait(wrong)
        done, _ = await asyncio.wait([asyncio.ensure_future(echo.request(2))])
        completed = [await each for each in asyncio.as_completed([echo.request(3)])]
        return [each.result() for each in done], completed, await asyncio.gather(echo.request(4))

    assert asyncio.run(main()) == ([2], [3], [4])


@pytest.mark.parametrize("hook", ["on_receive", "on_start", "on_stop", "on_failure"])
def test_an_async_generator_is_no_handler(hook: str) -> None:
    async def generator(*_: Any) -> AsyncIterator[int]:
        yield 1

    with pytest.raises(TypeError, match="would never run: it has a yield"):
        type("Yields", (Actor,), {hook: generator})


@pytest.mark.parametrize("hook", ["on_start", "on_stop", "on_failure"])
def test_a_generator_is_no_hook(hook: str) -> None:
    def generator(*_: Any) -> Iterator[int]:
        yield 1

    with pytest.raises(TypeError, match="would never run: it has a yield"):
        type("Yields", (Actor,), {hook: generator})
