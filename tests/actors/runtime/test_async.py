"""Coroutines as handlers: waiting, reentrance, cancellation, timeouts, and awaiting from asyncio."""

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    Dispatcher,
    ForeignAwaitable,
    Future,
    ReplyOverdue,
    Timeout,
    on_loop,
    take_reply,
)
from showcaller.actors.runtime.testkit import ManualDispatcher, NothingToRun, Probe, probe


class Waiting(Actor):
    """Awaits the future it is sent, notes what it does, and answers with the value."""

    registered = False

    def __init__(self) -> None:
        super().__init__()
        self.log: list[Any] = []

    async def on_receive(self, message: Any) -> Any:
        self.log.append("begin")
        try:
            return await message if isinstance(message, Future) else message
        finally:
            self.log.append("end")


class Reentrant(Waiting):
    """The same, and takes other messages meanwhile."""

    reentrant = True


def log_of(ref: ActorRef[Any]) -> list[Any]:
    """Look into an actor."""
    actor = ref._actor
    assert isinstance(actor, Waiting)
    return actor.log


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


class TestCancellation:
    @pytest.mark.parametrize("kind", [Waiting, Reentrant])
    def test_kill_ends_a_waiting_handler_and_answers_its_asker(
        self, kind: type[Waiting], manual: ManualDispatcher
    ) -> None:
        ref, until = kind.start(), Future[None]()
        answer = ref.ask(until, block=False)
        manual.settle()
        log = log_of(ref)
        ref.kill()
        manual.settle()
        with pytest.raises(ActorDeadError):
            answer.get()
        assert log == ["begin", "end"], "its finally block ran"
        until.set(None)
        assert manual.settle() == 0, "nothing is resumed"

    def test_stop_of_a_reentrant_actor_ends_its_waiting_handlers(self, manual: ManualDispatcher) -> None:
        ref = Reentrant.start()
        answers = [ref.ask(Future[None](), block=False) for _ in range(10)]
        assert ref.stop() is True
        for answer in answers:
            with pytest.raises(ActorDeadError):
                answer.get()

    def test_stop_of_another_actor_waits_for_its_handler(self, manual: ManualDispatcher) -> None:
        ref, until = Waiting.start(), Future[str]()
        answer = ref.ask(until, block=False)
        stopping = ref.stop(block=False)
        manual.settle()
        assert not stopping.done
        until.set("done")
        assert stopping.get() is True
        assert answer.get() == "done"

    def test_kill_overtakes_a_flood(self, threads: Dispatcher) -> None:
        seen: list[int] = []
        started, going = Future[None](), Future[None]()

        class Flooded(Actor):
            registered = False

            def on_receive(self, message: int) -> None:
                seen.append(message)
                if message == 0:
                    started.set(None)
                    going.get(timeout=10)

        ref = Flooded.start()
        last = [ref.ask(number, block=False) for number in range(100)][-1]
        started.get(timeout=10)
        ref.kill()
        going.set(None)
        with pytest.raises(ActorDeadError):
            last.get(timeout=10)
        assert seen == [0]

    def test_a_coroutine_that_does_not_let_itself_be_closed_is_reported(
        self, manual: ManualDispatcher, caplog: pytest.LogCaptureFixture
    ) -> None:
        class Stubborn(Actor):
            registered = False

            async def on_receive(self, message: Any) -> None:
                with contextlib.suppress(GeneratorExit):
                    await message
                await message

        ref = Stubborn.start()
        ref.tell(Future[None]())
        manual.settle()
        ref.kill()
        manual.settle()
        assert not ref.is_alive()
        assert "ignored GeneratorExit" in caplog.text

    def test_an_actor_can_kill_itself_with_nothing_else_in_its_mailbox(
        self, manual: ManualDispatcher
    ) -> None:
        class Suicidal(Actor):
            registered = False

            def on_receive(self, message: Any) -> str:
                self.actor_ref.kill()
                return "last words"

        ref = Suicidal.start()
        assert ref.ask("go") == "last words"
        manual.settle()
        assert not ref.is_alive()

    def test_a_reply_that_comes_before_the_handler_lets_go_resumes_it(self, manual: ManualDispatcher) -> None:
        class Hasty(Future[str]):
            """A future that is done as soon as somebody waits for it."""

            def add_done_callback(self, callback: Any) -> None:
                super().add_done_callback(callback)
                self.try_set("at once")

        assert Waiting.start().ask(Hasty()) == "at once"

    def test_kill_twice_and_kill_the_dead_does_nothing(self, manual: ManualDispatcher) -> None:
        ref = Waiting.start()
        ref.kill()
        ref.kill()
        manual.settle()
        ref.kill()
        assert manual.settle() == 0
        assert manual.dead_letters == 0


class TestTimeouts:
    def test_a_request_ends_in_a_timeout_and_a_late_reply_is_counted(self, manual: ManualDispatcher) -> None:
        ref, until = Waiting.start(), Future[str]()
        answer = ref.request(until, timeout=5)
        manual.advance(5)
        with pytest.raises(Timeout, match="5 seconds"):
            answer.get()
        until.set("late")
        manual.settle()
        assert manual.late_replies == 1

    def test_a_reply_in_time_is_not_late(self, manual: ManualDispatcher) -> None:
        answer = Waiting.start().request("soon", timeout=5)
        manual.advance(10)
        assert answer.get() == "soon"
        assert manual.late_replies == 0
        assert manual.timers.next_due() is None

    def test_who_answers_later_may_be_late_without_harm(self, manual: ManualDispatcher) -> None:
        kept: list[Future[Any]] = []

        class Later(Actor):
            registered = False

            def on_receive(self, message: Any) -> None:
                reply = take_reply()
                assert reply is not None
                kept.append(reply)

        answer = Later.start().request("when?", timeout=1)
        manual.advance(2)
        kept[0].set("now")
        assert manual.late_replies == 1
        with pytest.raises(ReplyOverdue):
            answer.get()

    def test_a_handler_sees_the_timeout_of_its_request(self, manual: ManualDispatcher) -> None:
        class Impatient(Actor):
            registered = False

            async def on_receive(self, message: ActorRef[Any]) -> str:
                try:
                    await message.request(Future[None](), timeout=3)
                except Timeout:
                    return f"at {self.actor_ref.dispatcher.clock.monotonic():g} s"
                return "answered"

        assert Impatient.start().ask(Waiting.start()) == "at 3 s"

    def test_an_error_after_the_reply_was_taken_fails_the_actor(self, manual: ManualDispatcher) -> None:
        class Taker(Actor):
            registered = False

            def on_receive(self, message: Any) -> None:
                take_reply()
                raise ValueError("nobody would hear of it")

        ref = Taker.start()
        ref.ask("x", block=False)
        manual.settle()
        assert not ref.is_alive()


class TestForwarding:
    def test_a_forwarded_reply_comes_from_the_other(self, manual: ManualDispatcher) -> None:
        class Desk(Actor):
            registered = False

            def on_receive(self, message: ActorRef[Any]) -> None:
                message.forward("forwarded", take_reply())

        assert Desk.start().ask(Waiting.start()) == "forwarded"

    def test_to_a_dead_actor_it_is_answered_with_the_death(self, manual: ManualDispatcher) -> None:
        class Desk(Actor):
            registered = False

            def on_receive(self, message: ActorRef[Any]) -> None:
                message.forward("forwarded", take_reply())

        dead = Waiting.start()
        dead.stop()
        with pytest.raises(ActorDeadError):
            Desk.start().ask(dead)


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
        assert future._callbacks == []
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
                    await asyncio.get_running_loop().create_future()
                return "refused"

        async def main() -> Any:
            with ManualDispatcher() as manual:
                return await manual.until(Wrong.start().request("x"))

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
