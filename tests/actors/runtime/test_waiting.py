"""Coroutines as handlers: waiting with and without reentrance, and errors in them."""

from typing import Any

import pytest

from showcaller.actors.runtime import Actor, Dispatcher, Future
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.waiting import Reentrant, Waiting, log_of


class TestWaiting:
    def test_an_actor_that_waits_takes_no_other_message(self, manual: ManualDispatcher) -> None:
        ref, until = Waiting.start(), Future[str]()
        first = ref.ask(until, block=False)
        second = ref.ask("second", block=False)
        manual.settle()
        assert (first.done, second.done) == (False, False)
        until.set("first")
        manual.settle()
        assert (first.get(), second.get()) == ("first", "second")
        assert log_of(ref) == ["begin", "end", "begin", "end"]

    def test_a_reentrant_actor_does(self, manual: ManualDispatcher) -> None:
        ref, until = Reentrant.start(), Future[str]()
        first = ref.ask(until, block=False)
        assert ref.ask("second") == "second"
        assert not first.done
        until.set("first")
        assert first.get() == "first"
        assert log_of(ref) == ["begin", "begin", "end", "end"]

    def test_reentrant_handlers_go_on_in_the_order_of_their_replies(self, manual: ManualDispatcher) -> None:
        ref = Reentrant.start()
        untils = [Future[int]() for _ in range(5)]
        answers = [ref.ask(until, block=False) for until in untils]
        done: list[int] = []
        for answer in answers:
            answer.add_done_callback(lambda answered: done.append(answered.get()))
        manual.settle()
        for number in (3, 1, 4, 0, 2):
            untils[number].set(number)
        manual.settle()
        assert done == [3, 1, 4, 0, 2]

    def test_a_flood_while_it_waits_is_handled_in_order_afterwards(self, threads: Dispatcher) -> None:
        ref, until = Waiting.start(), Future[str]()
        first = ref.ask(until, block=False)
        rest = [ref.ask(number, block=False) for number in range(2_000)]
        until.set("first")
        assert first.get(timeout=10) == "first"
        assert [answer.get(timeout=10) for answer in rest] == list(range(2_000))

    def test_on_start_may_wait_and_mail_waits_with_it(self, manual: ManualDispatcher) -> None:
        until: Future[None] = Future()

        class Late(Waiting):
            async def on_start(self) -> None:  # type: ignore[override]
                self.log.append("starting")
                await until
                self.log.append("started")

        ref = Late.start()
        answer = ref.ask("hello", block=False)
        manual.settle()
        assert not answer.done
        until.set(None)
        manual.settle()
        assert answer.get() == "hello"
        assert log_of(ref) == ["starting", "started", "begin", "end"]

    def test_proxies_may_call_coroutines(self, manual: ManualDispatcher) -> None:
        class Dialogue(Waiting):
            async def double(self, future: "Future[int]") -> int:
                return 2 * await future

        until: Future[int] = Future()
        doubled: Future[int] = Dialogue.start().proxy().double(until)
        manual.settle()
        until.set(21)
        assert doubled.get() == 42

    def test_hooks_at_the_end_cannot_be_async(self) -> None:
        async def on_stop(self: Any) -> None: ...

        with pytest.raises(TypeError, match="cannot be async"):
            type("Wrong", (Actor,), {"on_stop": on_stop})

    def test_an_error_in_a_told_coroutine_is_a_failure(self, manual: ManualDispatcher) -> None:
        ref, until = Waiting.start(), Future[None]()
        ref.tell(until)
        manual.settle()
        until.set_exception(ValueError("told"))
        manual.settle()
        assert not ref.is_alive()

    def test_an_error_in_an_asked_coroutine_is_the_answer(self, manual: ManualDispatcher) -> None:
        ref, until = Waiting.start(), Future[None]()
        answer = ref.ask(until, block=False)
        until.set_exception(ValueError("asked"))
        with pytest.raises(ValueError, match="asked"):
            answer.get()
        assert ref.is_alive()
