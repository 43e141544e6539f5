"""A signal handler that raises while somebody completes a future: who waits for it still gets an end."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from showcaller.actors.runtime import Dispatcher, Future
from tests.actors.runtime.interrupting import Interrupter
from tests.actors.runtime.test_blocking import until
from tests.actors.runtime.waiting import Waiting

PATIENCE = 5.0
MOST = 200

COMPLETING: dict[str, Callable[[Future[Any]], object]] = {
    "set": lambda future: future.set("first"),
    "set_exception": lambda future: future.set_exception(ValueError("first")),
    "a hook": lambda future: future.set_get_hook(lambda _: "first"),
}


def end_of(future: Future[Any]) -> str:
    """Give in words what a future has ended in."""
    try:
        return str(future.get(timeout=PATIENCE))
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("completing", COMPLETING)
def test_a_future_ends_wherever_its_completion_was_interrupted(completing: str) -> None:
    for place in range(1, MOST):
        future = Future[Any]()
        interrupted = Interrupter(place).interrupts(lambda: COMPLETING[completing](future))  # noqa: B023
        expected = "second" if future.try_set("second") else "first"
        assert end_of(future) == expected, place
        if not interrupted:
            assert place > 2
            return
    pytest.fail("the call has no end")


@pytest.mark.parametrize("completing", ["set", "set_exception"])
def test_an_actor_that_waits_goes_on_wherever_the_completion_was_interrupted(completing: str) -> None:
    for place in range(1, MOST):
        dispatcher = Dispatcher(name="test")
        with dispatcher:
            future = Future[Any]()
            answer = Waiting.start().request(future)
            assert until(lambda: bool(future._callbacks))  # noqa: B023
            interrupted = Interrupter(place).interrupts(lambda: COMPLETING[completing](future))  # noqa: B023
            expected = "second" if future.try_set("second") else "first"
            assert end_of(answer) == expected, place
        dispatcher.close()
        if not interrupted:
            return
    pytest.fail("the call has no end")


def test_a_thread_that_waits_goes_on_wherever_the_completion_was_interrupted() -> None:
    for place in range(1, MOST):
        future, got = Future[Any](), list[str]()
        waiting = threading.Thread(target=lambda: got.append(end_of(future)))  # noqa: B023
        waiting.start()
        assert until(lambda: bool(future._callbacks))  # noqa: B023
        interrupted = Interrupter(place).interrupts(lambda: future.set("first"))  # noqa: B023
        expected = "second" if future.try_set("second") else "first"
        waiting.join()
        assert got == [expected], place
        if not interrupted:
            return
    pytest.fail("the call has no end")
