"""Derived futures always end: whatever the source ends in, the function raises, or the chain's length is."""

from typing import Any

import pykka
import pytest

from showcaller.actors.runtime import Dispatcher, Future
from showcaller.actors.runtime.testkit import Probe

BEYOND = (KeyboardInterrupt, SystemExit, GeneratorExit)  # what ``except Exception`` lets through


class TestErrorsBeyondException:
    @pytest.mark.parametrize("kind", BEYOND)
    def test_one_out_of_the_function_is_the_outcome_and_spares_who_answers(
        self, kind: type[BaseException], threads: Dispatcher
    ) -> None:
        def leave(_: object) -> None:
            raise kind("leave")

        server, other = Probe.start(), Probe.start()
        answered = server.request("answer").map(leave)
        with pytest.raises(kind, match="leave"):
            answered.get(timeout=10)
        assert server.ask("still there", timeout=10) is None
        assert other.is_alive()

    @pytest.mark.parametrize("kind", BEYOND)
    def test_one_in_the_source_is_what_the_derived_end_in(self, kind: type[BaseException]) -> None:
        source = Future[Any]()
        derived: list[Future[Any]] = [
            source.map(str),
            source.filter(bool),
            source.join(),
            source.join(Future()),
            source.map(str).map(str),
        ]
        source.set_exception(kind())
        for future in derived:
            assert future.done
            with pytest.raises(kind):
                future.get()

    @pytest.mark.parametrize("kind", [SystemExit, GeneratorExit, ValueError])
    def test_one_out_of_a_callback_is_logged_and_the_next_is_run(
        self, kind: type[BaseException], caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail(_: object) -> None:
            raise kind

        source, seen = Future[int](), list[int]()
        source.add_done_callback(fail)
        source.add_done_callback(lambda done: seen.append(done.get()))
        source.set(1)
        assert seen == [1]
        assert [record.message for record in caplog.records] == ["A callback of a future failed"]

    def test_an_interrupt_of_the_main_thread_is_raised_there_after_all_callbacks(self) -> None:
        def interrupted(_: object) -> None:
            raise KeyboardInterrupt

        source, seen = Future[int](), list[int]()
        source.add_done_callback(interrupted)
        source.add_done_callback(lambda done: seen.append(done.get()))
        with pytest.raises(KeyboardInterrupt):
            source.set(1)
        assert seen == [1]


class TestChains:
    def test_a_chain_of_5000_ends(self) -> None:
        source = Future[int]()
        last: Future[Any] = source
        for number in range(5_000):
            last = (
                last.map(lambda value: value + 1)
                if number % 2
                else last.join().map(lambda one: next(iter(one)))
            )
        source.set(0)
        assert last.get(timeout=0) == 2_500

    def test_a_chain_of_5000_ends_in_the_error_of_its_source(self) -> None:
        source = Future[int]()
        last: Future[Any] = source
        for _ in range(5_000):
            last = last.map(str)
        source.set_exception(ValueError("source"))
        with pytest.raises(ValueError, match="source"):
            last.get(timeout=0)


@pytest.mark.parametrize("kind", [Future, pykka.ThreadingFuture])
class TestAsInPykka:
    def test_a_join_ends_in_the_first_error_and_waits_for_nothing_behind_it(self, kind: type[Any]) -> None:
        first, failed, pending = kind(), kind(), kind()
        joined = first.join(failed, pending)
        first.set(1)
        try:
            raise ValueError("second")
        except ValueError:
            failed.set_exception()
        with pytest.raises(ValueError, match="second"):
            joined.get(timeout=1)

    def test_a_hook_set_after_deriving_is_heard(self, kind: type[Any]) -> None:
        source, other = kind(), kind()
        derived = source.map(lambda value: 2 * value)
        again, joined = derived.map(str), other.join(derived)
        other.set(1)
        source.set_get_hook(lambda timeout: 21)
        assert (derived.get(timeout=1), again.get(timeout=1), joined.get(timeout=1)) == (42, "42", [1, 42])
