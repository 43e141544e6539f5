"""``with dispatcher:`` holds for the thread, or the asyncio task, that entered it."""

import asyncio
import threading

import pytest

from showcaller.actors.runtime import Dispatcher
from showcaller.actors.runtime.context import current_dispatcher
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Failing


def test_the_innermost_block_holds() -> None:
    outer, inner = ManualDispatcher(), ManualDispatcher()
    with outer:
        with inner, outer:
            assert Failing.start().dispatcher is outer
        with inner:
            assert Failing.start().dispatcher is inner
        assert Failing.start().dispatcher is outer
    assert current_dispatcher() is None


def test_tasks_of_one_loop_have_blocks_of_their_own() -> None:
    found: dict[str, bool] = {}

    async def task(name: str, mine: asyncio.Event, others: asyncio.Event) -> None:
        dispatcher = Dispatcher(name=name)
        with dispatcher:
            mine.set()
            await others.wait()
            ref = Failing.start()
            found[name] = ref.dispatcher is dispatcher
            ref.stop(block=False)
        found[f"{name} after"] = current_dispatcher() is not dispatcher
        dispatcher.close()

    async def both() -> None:
        one, two = asyncio.Event(), asyncio.Event()
        await asyncio.gather(task("one", one, two), task("two", two, one))

    asyncio.run(both())
    assert found == dict.fromkeys(["one", "two", "one after", "two after"], True)
    assert current_dispatcher() is None


def test_a_task_that_is_in_no_block_is_in_that_of_its_thread() -> None:
    async def main() -> None:
        entered = asyncio.Event()

        async def before() -> object:
            await entered.wait()
            return current_dispatcher()

        task = asyncio.create_task(before())
        with ManualDispatcher() as manual:
            entered.set()
            assert await task is manual

    asyncio.run(main())


def test_a_task_that_outlives_its_block_is_outside() -> None:
    async def main() -> None:
        over = asyncio.Event()

        async def after() -> object:
            await over.wait()
            return current_dispatcher()

        with ManualDispatcher():
            task = asyncio.create_task(after())
        over.set()
        assert await task is None

    asyncio.run(main())


def test_another_thread_cannot_leave_a_block() -> None:
    manual = ManualDispatcher()
    errors: list[BaseException] = []

    def leave() -> None:
        with pytest.raises(RuntimeError, match="this thread is in no such `with` block") as error:
            manual.__exit__()
        errors.append(error.value)

    with manual:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        assert current_dispatcher() is manual
    assert len(errors) == 1
    assert current_dispatcher() is None
