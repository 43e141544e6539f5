"""Callbacks that complete other futures: any number of them one after another, in one order."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, ActorDeadError, ActorRef, Dispatcher, Future, Terminated
from showcaller.actors.runtime.delivery import DEEPEST
from tests.actors.runtime.test_blocking import until

LONG = 5_000


def line_of(count: int) -> list[Future[int]]:
    """Make futures of which each completes the next one by a callback."""
    futures = [Future[int]() for _ in range(count)]
    for one, following in itertools.pairwise(futures):
        one.add_done_callback(lambda done, following=following: following.set(done.get() + 1))  # type: ignore[misc]
    return futures


def tree(depth: int, name: str, log: list[str]) -> Future[int]:
    """Make a future whose callbacks complete two others in between, and so on, and that logs the order."""
    top = Future[int]()
    top.add_done_callback(lambda _: log.append(f"{name} first"))
    if depth:
        below = [tree(depth - 1, name + side, log) for side in "lr"]
        top.add_done_callback(lambda _: [future.try_set(0) for future in below])
    top.add_done_callback(lambda _: log.append(f"{name} last"))
    return top


def order(depth: int, name: str) -> list[str]:
    """Give the order in which that is to happen: what a callback completes comes before the next one."""
    below = [entry for side in "lr" for entry in order(depth - 1, name + side)] if depth else []
    return [f"{name} first", *below, f"{name} last"]


def under(depth: int, do: Callable[[], object]) -> None:
    """Do it in a callback that so many others are outside of."""
    futures = line_of(depth)
    futures[-1].add_done_callback(lambda _: do())
    futures[0].set(0)


def test_thousands_that_complete_one_another_are_no_recursion() -> None:
    futures = line_of(LONG)
    futures[0].set(0)
    assert [future.get(timeout=0) for future in futures] == list(range(LONG))


def test_so_are_callbacks_and_derived_futures_in_turns() -> None:
    source = last = Future[int]()
    for _ in range(LONG):
        following = Future[int]()
        last.map(lambda value: value + 1).add_done_callback(
            lambda done, following=following: following.set(done.get())  # type: ignore[misc]
        )
        last = following
    source.set(0)
    assert last.get(timeout=0) == LONG


@pytest.mark.parametrize("depth", [1, DEEPEST - 2, DEEPEST, DEEPEST + 1])
def test_the_order_is_the_same_however_deep_it_is(depth: int) -> None:
    log: list[str] = []
    top = tree(5, "", log)
    under(depth, lambda: top.set(0))
    assert log == order(5, "")


def test_a_failing_callback_takes_nobody_along(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: object) -> None:
        raise ValueError

    futures = line_of(3 * DEEPEST)
    following = dict(futures[2 * DEEPEST]._callbacks)
    futures[2 * DEEPEST]._callbacks.clear()
    futures[2 * DEEPEST].add_done_callback(fail)
    futures[2 * DEEPEST]._callbacks.update(following)
    futures[0].set(0)
    assert futures[-1].get(timeout=0) == 3 * DEEPEST - 1
    assert [record.message for record in caplog.records] == ["A callback of a future failed"]


@pytest.mark.parametrize("depth", [1, DEEPEST, 2 * DEEPEST])
def test_who_waits_in_a_callback_for_what_it_has_set_off_itself_gets_it(depth: int) -> None:
    got: list[int] = []
    source, last = Future[int](), Future[int]()
    source.add_done_callback(lambda done: last.set(done.get()))

    def wait() -> None:
        source.set(7)
        got.append(last.get(timeout=5))

    under(depth, wait)
    assert got == [7]


class Watching(Actor):
    """Watches another one."""

    registered = False

    def __init__(self, other: ActorRef[Any] | None) -> None:
        super().__init__()
        if other is not None:
            self.watch(other)

    def on_receive(self, message: Any) -> Any:
        return None if isinstance(message, Terminated) else message


def test_a_chain_of_watchers_on_a_closed_dispatcher_ends_to_its_last(threads: Dispatcher) -> None:
    refs = [Watching.start(None)]
    for _ in range(1_000):
        refs.append(Watching.start(refs[-1]))
    assert [ref.ask(1) for ref in refs] == [1] * len(refs)
    threads.close()
    assert until(lambda: not threads._threads)
    refs[0].tell("goodbye")
    assert not any(ref.is_alive() for ref in refs)


class Asking(Actor):
    """Waits for ever; when it is ended it asks somebody for something."""

    registered = False

    def __init__(self, other: ActorRef[Any], outcome: Future[str]) -> None:
        super().__init__()
        self.other = other
        self.outcome = outcome

    async def on_receive(self, message: Any) -> Any:
        try:
            await Future()
        finally:
            try:
                self.outcome.set(self.other.ask("anything", timeout=30))
            except ActorDeadError:
                self.outcome.set("refused")


def test_who_is_ended_with_its_dispatcher_and_asks_once_more_gets_an_end(threads: Dispatcher) -> None:
    outcome = Future[str]()
    other = Watching.start(None)
    asking = Asking.start(other, outcome)
    asking.tell("wait")
    assert other.ask(1) == 1
    threads.close()
    assert outcome.get(timeout=30) in ("refused", "anything")
