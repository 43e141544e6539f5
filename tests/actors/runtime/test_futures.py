"""Futures that push: what is derived from them is there as soon as they are."""

from collections.abc import Iterable
from typing import Any

import pytest

from showcaller.actors.runtime import Future
from showcaller.actors.runtime.testkit import ManualDispatcher, Probe


class TestPushed:
    def test_derived_futures_are_pushed(self) -> None:
        first, second = Future[Iterable[int]](), Future[Iterable[int]]()
        doubled = first.map(lambda items: [2 * item for item in items])
        odd = first.filter(lambda item: item % 2 == 1)
        total = first.reduce(lambda left, right: left + right, 100)
        both = first.join(second)
        first.set([1, 2, 3])
        assert (doubled.done, odd.done, total.done, both.done) == (True, True, True, False)
        assert (doubled.get(), odd.get(), total.get()) == ([2, 4, 6], [1, 3], 106)
        second.set([4])
        assert both.done
        assert both.get() == [[1, 2, 3], [4]]

    def test_an_error_is_pushed_too(self) -> None:
        source = Future[int]()
        derived = source.map(lambda value: 1 // value)
        source.set(0)
        assert derived.done
        with pytest.raises(ZeroDivisionError):
            derived.get()

    def test_the_answer_to_a_stop_is_pushed(self, manual: ManualDispatcher) -> None:
        ref = Probe.start()
        stopped = ref.stop(block=False)
        seen: list[bool] = []
        stopped.add_done_callback(lambda done: seen.append(done.get()))
        manual.settle()
        assert seen == [True]
        assert ref.stop(block=False).done
        assert ref.stop() is False


@pytest.mark.parametrize("given", [ValueError, "text", "abc", "", 5, (ValueError,), (1, 2, 3)])
def test_what_is_no_exception_is_refused_in_words(given: Any) -> None:
    future = Future[None]()
    with pytest.raises(TypeError, match="a future ends in an exception, such as"):
        future.set_exception(given)
    assert not future.done


def test_without_an_exception_under_way_one_must_be_given() -> None:
    future = Future[None]()
    with pytest.raises(TypeError, match="no exception is being handled"):
        future.set_exception()
    try:
        raise LookupError("under way")
    except LookupError:
        future.set_exception()
    with pytest.raises(LookupError, match="under way"):
        future.get()
