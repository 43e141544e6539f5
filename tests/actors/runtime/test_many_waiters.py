"""A future for which very many wait: nothing that is done with one of them depends on how many there are."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from showcaller.actors.runtime import Future

Callback = Callable[[Future[None]], object]


class _Compared:
    """A callback that counts how often it is compared with another."""

    compared = 0

    def __init__(self, log: list[int], number: int) -> None:
        self.log = log
        self.number = number

    def __call__(self, _: object) -> None:
        self.log.append(self.number)

    def __eq__(self, other: object) -> bool:
        _Compared.compared += 1
        return self is other

    __hash__ = None  # type: ignore[assignment]


def test_callbacks_are_neither_compared_nor_hashed() -> None:
    log: list[int] = []
    future: Future[None] = Future()
    callbacks: list[Any] = [_Compared(log, number) for number in range(100)]
    for callback in callbacks:
        future.add_done_callback(callback)
    for callback in reversed(callbacks[:50]):
        future.forget_callback(callback)
    future.set()
    assert log == list(range(50, 100))
    assert _Compared.compared == 0


def test_many_are_called_in_the_order_in_which_they_came() -> None:
    log: list[int] = []
    future: Future[None] = Future()
    for number in range(50_000):
        future.add_done_callback(lambda _, number=number: log.append(number))  # type: ignore[misc]
    future.set()
    assert log == list(range(50_000))


@pytest.mark.parametrize("take_back", ["first", "last"])
def test_forgetting_one_takes_as_many_calls_among_many_as_among_few(take_back: str) -> None:
    def calls(waiting: int) -> int:
        future: Future[None] = Future()
        callbacks: list[Callback] = [lambda _, number=number: number for number in range(waiting)]  # type: ignore[misc]
        for callback in callbacks:
            future.add_done_callback(callback)
        made: list[str] = []
        sys.setprofile(lambda frame, event, argument: made.append(event))
        try:
            future.forget_callback(callbacks[0 if take_back == "first" else -1])
        finally:
            sys.setprofile(None)
        return len(made)

    assert calls(10_000) == calls(1)


def test_the_same_callback_twice_is_called_twice_and_forgotten_one_at_a_time() -> None:
    log: list[str] = []

    class Listening:
        def hear(self, _: object) -> None:
            log.append("heard")

    listening = Listening()
    future: Future[None] = Future()
    for _ in range(3):
        future.add_done_callback(listening.hear)
    future.forget_callback(listening.hear)
    future.set()
    assert log == ["heard", "heard"]
