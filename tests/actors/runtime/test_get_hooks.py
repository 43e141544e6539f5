"""Futures whose value the first ``get()`` computes (pykka's get hooks, and joins with pykka's futures)."""

import concurrent.futures
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pykka
import pytest

from showcaller.actors.runtime import Actor, ActorRef, AskCycle, Dispatcher, Future
from showcaller.actors.runtime.testkit import ManualDispatcher


class Computation:
    """A function for a hook that waits until it may go on."""

    def __init__(self) -> None:
        self.calls = 0
        self.begun = threading.Event()
        self.may_end = threading.Event()
        self.fault: Exception | None = None

    def __call__(self, timeout: float | None) -> str:
        self.calls += 1
        self.begun.set()
        assert self.may_end.wait(10)
        fault, self.fault = self.fault, None
        if fault is not None:
            raise fault
        return "computed"


def in_thread(function: Callable[[], Any]) -> "concurrent.futures.Future[Any]":
    """Run it in a thread of its own, and give what comes of it."""
    pool = ThreadPoolExecutor(1)
    outcome = pool.submit(function)
    pool.shutdown(wait=False)
    return outcome


@pytest.fixture
def computation() -> Computation:
    return Computation()


@pytest.fixture
def hooked(computation: Computation) -> Future[str]:
    """Give a future whose value is computed by the first who gets it."""
    future = Future[str]()
    future.set_get_hook(computation)
    return future


class TestWhileAnotherComputes:
    def test_a_wait_ends_at_its_own_timeout(self, hooked: Future[str], computation: Computation) -> None:
        first = in_thread(hooked.get)
        assert computation.begun.wait(10)
        with pytest.raises(pykka.Timeout):
            in_thread(lambda: hooked.get(timeout=0.01)).result(timeout=10)
        assert not hooked.done
        computation.may_end.set()
        assert first.result(timeout=10) == "computed"

    def test_who_waits_gets_what_the_other_has_computed(
        self, hooked: Future[str], computation: Computation
    ) -> None:
        first = in_thread(hooked.get)
        assert computation.begun.wait(10)
        others = [in_thread(lambda: hooked.get(timeout=10)) for _ in range(3)]
        computation.may_end.set()
        assert [each.result(timeout=10) for each in [first, *others]] == ["computed"] * 4
        assert computation.calls == 1

    def test_the_next_one_computes_if_that_fails(self, hooked: Future[str], computation: Computation) -> None:
        computation.fault = ValueError("first")
        first = in_thread(hooked.get)
        assert computation.begun.wait(10)
        second = in_thread(hooked.get)
        computation.may_end.set()
        with pytest.raises(ValueError, match="first"):
            first.result(timeout=10)
        assert second.result(timeout=10) == "computed"

    def test_a_join_with_a_future_of_pykkas_ends_at_its_own_timeout(self) -> None:
        old = pykka.ThreadingFuture[int]()
        done = Future[int]()
        done.set(1)
        joined = done.join(old)
        first = in_thread(joined.get)
        with pytest.raises(pykka.Timeout):
            in_thread(lambda: joined.get(timeout=0.01)).result(timeout=10)
        old.set(2)
        assert first.result(timeout=10) == [1, 2]

    def test_a_handler_that_waits_lets_others_go_on(self, manual: ManualDispatcher) -> None:
        class Getter(Actor):
            registered = False

            def on_receive(self, message: Any) -> Any:
                return message.get() if isinstance(message, Future) else message

        slow, hooked = Future[int](), Future[int]()
        hooked.set_get_hook(lambda timeout: slow.get(timeout=timeout))
        answers = [Getter.start().request(hooked) for _ in range(3)]
        manual.settle()
        assert Getter.start().ask("hello") == "hello"
        slow.set(5)
        manual.settle()
        assert [answer.get() for answer in answers] == [5, 5, 5]

    def test_a_wait_that_could_never_end_is_refused(self, manual: ManualDispatcher) -> None:
        class Getter(Actor):
            registered = False

            def on_receive(self, message: Future[Any]) -> Any:
                return message.get()

        other: ActorRef[Getter] = Getter.start()
        hooked = Future[Any]()
        hooked.set_get_hook(lambda timeout: other.ask(hooked))
        with pytest.raises(AskCycle):
            Getter.start().ask(hooked)


class TestOnceComputed:
    def test_it_is_done_and_says_so(self, hooked: Future[str], computation: Computation) -> None:
        computation.may_end.set()
        assert hooked.get() == "computed"
        assert hooked.done
        assert repr(hooked) == "<Future: 'computed'>"
        assert hooked.try_set("other") is False
        assert hooked.try_set_get_hook(lambda timeout: "other") is False
        assert (hooked.get(), computation.calls) == ("computed", 1)

    def test_its_callbacks_are_called_once(self, hooked: Future[str], computation: Computation) -> None:
        computation.may_end.set()
        heard: list[Future[str]] = []
        hooked.add_done_callback(heard.append)
        hooked.get()
        hooked.get()
        assert heard == [hooked]
        hooked.add_done_callback(heard.append)
        assert heard == [hooked, hooked]

    def test_what_is_derived_is_computed_once(self) -> None:
        calls: list[int] = []

        def double(value: int) -> int:
            calls.append(value)
            return 2 * value

        source, heard = Future[int](), list[Any]()
        derived = source.map(double)
        derived.add_done_callback(heard.append)
        source.set_get_hook(lambda timeout: 21)
        assert (source.get(), derived.get(), derived.get()) == (21, 42, 42)
        assert calls == [21]
        assert heard == [derived]


def test_an_error_of_the_function_decides_nothing(hooked: Future[str], computation: Computation) -> None:
    computation.may_end.set()
    computation.fault = ValueError("once")
    with pytest.raises(ValueError, match="once"):
        hooked.get()
    assert not hooked.done
    assert hooked.get() == "computed"


def test_a_later_hook_takes_the_place_of_the_first(hooked: Future[str]) -> None:
    hooked.set_get_hook(lambda timeout: "second")
    assert hooked.get() == "second"


def test_one_behind_a_future_that_is_pending_is_computed_too(threads: Dispatcher) -> None:
    pending, hooked = Future[int](), Future[int]()
    hooked.set_get_hook(lambda timeout: 2)
    answer = in_thread(lambda: pending.join(hooked).get(timeout=10))
    pending.set(1)
    assert answer.result(timeout=10) == [1, 2]


def test_a_function_that_gets_its_own_future_ends_with_the_stack() -> None:
    hooked = Future[Any]()
    hooked.set_get_hook(lambda timeout: hooked.get())
    with pytest.raises(RecursionError):
        hooked.get()
    hooked.set_get_hook(lambda timeout: "mended")
    assert hooked.get() == "mended"
