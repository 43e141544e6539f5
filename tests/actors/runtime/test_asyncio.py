"""Beside asyncio: replies awaited on a loop, the bridge to it, and the manual dispatcher inside of one."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, Dispatcher, ForeignAwaitable, Future, Timeout, on_loop
from showcaller.actors.runtime.testkit import ManualDispatcher, NothingToRun, probe
from tests.actors.runtime.waiting import Waiting

Use = Callable[[], Coroutine[Any, Any, Any]]


async def _sleep() -> None:
    pause = asyncio.sleep  # nobody sleeps: it is refused where it is used
    await pause(0.1)


async def _gather() -> None:
    await asyncio.gather(Future[int]())  # a future of ours is awaitable and leaves no coroutine behind


async def _queue() -> None:
    await asyncio.Queue[int]().get()


async def _event() -> None:
    await asyncio.Event().wait()


async def _timeout() -> None:
    async with asyncio.timeout(1):
        await Future[int]()


async def _group() -> None:
    async with asyncio.TaskGroup():
        pass


async def _thread() -> None:
    await asyncio.to_thread(int)


async def _loop() -> None:
    asyncio.get_running_loop()


ASYNCIO: list[Use] = [_sleep, _gather, _queue, _event, _timeout, _group, _thread, _loop]


async def _not_locked() -> None:
    asyncio.Lock().release()


async def _own_runtime_error() -> None:
    raise RuntimeError("there is a different event loop in my game")


async def _nothing() -> None:
    missing: Any = None
    missing.name()


async def _of_another_loop() -> None:
    async def main() -> None:
        asyncio.Lock().release()

    asyncio.run(main())


OWN_ERRORS: list[Use] = [_not_locked, _own_runtime_error, _nothing, _of_another_loop]


class TestAsyncio:
    def test_a_reply_can_be_awaited_on_a_loop(self, threads: Dispatcher) -> None:
        ref = Waiting.start()

        async def ask_many() -> list[Any]:
            return await asyncio.gather(*(ask(number) for number in range(100)))

        async def ask(number: int) -> Any:
            return await ref.request(number)

        assert asyncio.run(ask_many()) == list(range(100))

    def test_a_loop_is_not_blocked_meanwhile(self, threads: Dispatcher) -> None:
        ref, until = Waiting.start(), Future[str]()

        async def other() -> None:
            until.set("set by the loop")

        async def both() -> str:
            task = asyncio.ensure_future(other())
            answer: str = await ref.request(until)
            await task
            return answer

        assert asyncio.run(both()) == "set by the loop"

    def test_a_cancelled_wait_leaves_nothing_behind(self, threads: Dispatcher) -> None:
        future: Future[None] = Future()

        async def give_up() -> None:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(_awaiting(future), 0.01)

        asyncio.run(give_up())
        assert not future._callbacks
        future.set(None)

    def test_a_handler_can_wait_for_a_loop_by_the_bridge(self, threads: Dispatcher) -> None:
        async def on_the_loop() -> str:
            await asyncio.sleep(0)
            return "from the loop"

        class Bridging(Actor):
            registered = False

            async def on_receive(self, message: asyncio.AbstractEventLoop) -> str:
                return await on_loop(message, on_the_loop())

        async def main() -> str:
            answer: str = await Bridging.start().request(asyncio.get_running_loop())
            return answer

        assert asyncio.run(main()) == "from the loop"

    def test_a_foreign_awaitable_names_the_bridge(self, manual: ManualDispatcher) -> None:
        class Wrong(Actor):
            registered = False

            async def on_receive(self, message: Any) -> Any:
                try:
                    await asyncio.sleep(0)
                except ForeignAwaitable as error:
                    return str(error)

        assert "Wrong.on_receive awaited None" in Wrong.start().ask("x")
        assert "on_loop(loop, coroutine)" in Wrong.start().ask("x")

    @pytest.mark.parametrize("use", ASYNCIO, ids=lambda use: use.__name__)
    def test_what_asyncio_refuses_without_a_loop_names_the_bridge(
        self, use: Use, threads: Dispatcher
    ) -> None:
        class Wrong(Actor):
            registered = False

            async def on_receive(self, message: Use) -> Any:
                return await message()

        with pytest.raises(ForeignAwaitable, match=r"Wrong\.on_receive .*on_loop\(loop, coroutine\)"):
            Wrong.start().ask(use, timeout=10)

    def test_a_loop_run_in_a_handler_that_awaits_a_reply_names_the_bridge(self, threads: Dispatcher) -> None:
        async def on_its_loop(message: Future[str]) -> str:
            return await message

        class Wrong(Actor):
            registered = False

            async def on_receive(self, message: Future[str]) -> str:
                return asyncio.run(on_its_loop(message))

        with pytest.raises(ForeignAwaitable, match=r"Wrong\.on_receive .*on_loop\(loop, coroutine\)"):
            Wrong.start().ask(Future(), timeout=10)

    @pytest.mark.parametrize("use", OWN_ERRORS, ids=lambda use: use.__name__)
    def test_other_errors_stay_what_they_are(self, use: Use, threads: Dispatcher) -> None:
        class Right(Actor):
            registered = False

            async def on_receive(self, message: Use) -> Any:
                return await message()

        with pytest.raises((RuntimeError, AttributeError)) as raised:
            Right.start().ask(use, timeout=10)
        assert type(raised.value) is not ForeignAwaitable


def _soon() -> "asyncio.Future[str]":
    loop = asyncio.get_running_loop()
    timed: asyncio.Future[str] = loop.create_future()
    loop.call_later(0.001, timed.set_result, "there")
    return timed


async def _timed() -> str:
    return await _soon()


async def _at_once() -> str:
    return "there"


async def _in_a_thread() -> str:
    return await asyncio.to_thread(lambda: "there")


class Bridged(Actor):
    """Awaits, on the loop of the test, what it is sent."""

    registered = False

    async def on_receive(self, message: Any) -> Any:
        return await on_loop(*message)


BY_LOOP: list[Callable[[asyncio.AbstractEventLoop, Future[str]], object]] = [
    lambda loop, future: loop.call_soon(future.set, "there"),
    lambda loop, future: loop.call_later(0.001, future.set, "there"),
    lambda loop, future: loop.run_in_executor(None, future.set, "there"),
]


class TestUntilWaitsForTheLoop:
    @pytest.mark.parametrize("use", [_timed, _at_once, _in_a_thread], ids=lambda use: use.__name__)
    def test_while_a_coroutine_of_the_bridge_is_under_way(self, use: Use) -> None:
        async def main() -> set[Any]:
            loop = asyncio.get_running_loop()
            seen = set()
            with ManualDispatcher() as manual:
                for _ in range(10):
                    seen.add(await manual.until(Bridged.start().request((loop, use()))))
                    seen.add(await manual.until(on_loop(loop, use())))
            return seen

        assert asyncio.run(main()) == {"there"}

    @pytest.mark.parametrize("complete", BY_LOOP)
    def test_while_a_callback_or_a_thread_is_to_complete_it(
        self, complete: Callable[[asyncio.AbstractEventLoop, Future[str]], object]
    ) -> None:
        async def main() -> Any:
            with ManualDispatcher() as manual:
                future = Future[str]()
                complete(asyncio.get_running_loop(), future)
                return await manual.until(future)

        assert asyncio.run(main()) == "there"


class TestManualInALoop:
    def test_steps_inside_a_running_loop(self) -> None:
        async def main() -> list[Any]:
            with ManualDispatcher() as manual:
                ref, until = Waiting.start(), Future[str]()
                answer = ref.request(until)
                manual.settle()
                assert not answer.done
                until.set("set")
                manual.settle()
                return [await answer, await manual.until(ref.request("again"))]

        assert asyncio.run(main()) == ["set", "again"]

    def test_a_foreign_future_in_a_handler_is_refused_there_too(self) -> None:
        class Wrong(Actor):
            registered = False

            async def on_receive(self, message: Any) -> Any:
                with pytest.raises(ForeignAwaitable):
                    await message
                return "refused"

        async def main() -> Any:
            with ManualDispatcher() as manual:
                return await manual.until(Wrong.start().request(asyncio.get_running_loop().create_future()))

        assert asyncio.run(main()) == "refused"

    def test_until_lets_the_loop_and_the_clock_go_on(self) -> None:
        async def main() -> tuple[Any, float]:
            with ManualDispatcher() as manual:
                ref, until = Waiting.start(), Future[str]()
                task = asyncio.ensure_future(_set(until))
                answer = await manual.until(ref.request(until))
                await task
                ref.tell_after(60, "later")
                watcher, _ = probe()
                ref.add_watcher(watcher)
                with pytest.raises(Timeout):
                    await manual.until(Waiting.start().request(Future[None](), timeout=90))
                return answer, manual.clock.monotonic()

        assert asyncio.run(main()) == ("from a task", 90)

    def test_until_says_when_nothing_can_complete_it(self) -> None:
        async def main() -> None:
            with ManualDispatcher() as manual:
                await manual.until(Waiting.start().request(Future[None]()))

        with pytest.raises(NothingToRun, match="no step, no timer and no task"):
            asyncio.run(main())

    def test_a_plain_handler_may_run_a_loop_of_its_own(self, manual: ManualDispatcher) -> None:
        class Host(Actor):
            registered = False

            def on_receive(self, message: "Future[str]") -> str:
                answer: str = asyncio.run(_awaiting(message))
                return answer

        done: Future[str] = Future()
        done.set("there")
        assert Host.start().ask(done) == "there"


async def _awaiting(future: "Future[Any]") -> Any:
    return await future


async def _set(future: "Future[str]") -> None:
    await asyncio.sleep(0)
    future.set("from a task")
