"""Threads that fail, cannot be had, or end just when they are needed: no mail is lost and no ask hangs."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    Dispatcher,
    DispatcherClosed,
    Future,
    Timeout,
    hand_on,
    take_reply,
)
from showcaller.actors.runtime.clock import SystemClock
from showcaller.actors.runtime.testkit import ManualDispatcher, probe
from showcaller.actors.runtime.threads import DispatcherThread
from tests.actors.runtime.test_blocking import until


class Echo(Actor):
    """Gives back what it gets, and waits for a future."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        return message.get() if isinstance(message, Future) else message


class Forgetful(Actor):
    """Says that somebody else gives the reply, which nobody does."""

    registered = False

    def on_receive(self, message: Any) -> None:
        self.reply = take_reply()
        hand_on(self.reply)


@contextmanager
def no_threads(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Let no thread be had inside the block."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        yield


class TestTimersThatFail:
    @pytest.mark.parametrize("end", [SystemExit, KeyboardInterrupt, GeneratorExit])
    def test_a_callback_of_an_overdue_reply_that_ends_its_thread_ends_no_other_actor(
        self, end: type[BaseException], threads: Dispatcher
    ) -> None:
        def callback(_: object) -> None:
            raise end

        ref, overdue = Echo.start(), Forgetful.start().request(1, timeout=0.02)
        overdue.add_done_callback(callback)
        assert until(lambda: overdue.done)
        assert ref.ask("still there?", timeout=10) == "still there?"

    def test_what_is_due_together_with_one_that_fails_is_told(self, manual: ManualDispatcher) -> None:
        class Failing:
            dispatcher = manual

            def tell(self, message: object) -> None:
                raise KeyboardInterrupt

        ref, got = probe()
        ref.tell_after(1, "before")
        manual.timers.after(1, Failing(), None)  # type: ignore[arg-type]
        ref.tell_after(1, "after")
        with pytest.raises(KeyboardInterrupt):
            manual.advance(1)
        manual.settle()
        assert got == ["before", "after"]

    @pytest.mark.parametrize("seconds", [5e-324, 1e-300, 1e-9])
    def test_an_interval_too_short_to_count_is_refused(
        self, seconds: float, manual: ManualDispatcher
    ) -> None:
        ref, _ = probe()
        with pytest.raises(ValueError, match="at least 1e-06 seconds"):
            ref.tell_every(seconds, "always")
        assert len(manual.timers) == 0

    def test_a_fault_of_the_runtime_costs_a_thread_and_no_mail(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        class Failing(SystemClock):
            fails = False

            def monotonic(self) -> float:
                if self.fails:
                    self.fails = False
                    raise OSError("no clock")
                return super().monotonic()

        clock = Failing()
        with Dispatcher(name="faulty", clock=clock) as dispatcher:
            ref = Echo.start()
            ref.ask("x", timeout=10)
            assert until(lambda: dispatcher._parked is not None)
            clock.fails = True
            for number in range(5):
                assert ref.ask(number, timeout=10) == number
            dispatcher.close()
        assert "ends a thread of 'faulty'" in caplog.text


class TestNoThread:
    def test_a_thread_that_comes_back_takes_the_mail_that_waits(
        self, threads: Dispatcher, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        blocking, other, later = Echo.start(), Echo.start(), Future[int]()
        for ref in (blocking, other):
            ref.ask("started", timeout=10)
        answer = blocking.request(later)
        assert until(lambda: threads.is_blocked(blocking) and threads._runner is None)
        with no_threads(monkeypatch):
            waiting = other.request("waits")
            other.tell("waits as well")
            later.set(3)
            assert answer.get(timeout=10) == 3
            assert waiting.get(timeout=10) == "waits"
        assert other.ask("again", timeout=10) == "again"
        assert Echo.start().ask("new", timeout=10) == "new"
        assert caplog.text.count("their mail waits") == 1

    def test_the_next_actor_with_mail_starts_the_thread_that_could_not_be_had(
        self, threads: Dispatcher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with no_threads(monkeypatch):
            waiting = Echo.start().request("waits")
        assert Echo.start().ask("x", timeout=10) == "x"
        assert waiting.get(timeout=10) == "waits"

    def test_the_watchdog_starts_it_when_nobody_sends(
        self, threads: Dispatcher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        threads._watchdog.arm()
        with no_threads(monkeypatch):
            waiting = Echo.start().request("waits")
        assert waiting.get(timeout=10) == "waits"

    def test_timeouts_come_when_a_thread_can_be_had_again(
        self, threads: Dispatcher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        threads._watchdog.arm()
        with no_threads(monkeypatch):
            ref, got = probe()
            ref.tell_after(0.01, "due")
        assert until(lambda: got == ["due"])

    def test_an_interrupted_start_makes_no_second_watchdog(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(event: threading.Event, timeout: float | None = None) -> bool:
            waited = wait(event, timeout)
            if threading.current_thread() is interrupted_thread:
                raise KeyboardInterrupt
            return waited

        def watching() -> list[threading.Thread]:
            # A thread that is about to end has no target any more.
            return [it for it in threading.enumerate() if getattr(it, "_target", None) == watchdog._run]

        wait, interrupted_thread = threading.Event.wait, threading.current_thread()
        dispatcher = Dispatcher(name="test")
        watchdog = dispatcher._watchdog
        with monkeypatch.context() as patch:
            patch.setattr(threading.Event, "wait", interrupted)
            with pytest.raises(KeyboardInterrupt):
                watchdog.arm()
        watchdog.arm()
        assert until(lambda: len(watching()) == 1)
        dispatcher.close()
        for thread in watching():
            thread.join(10)
        assert not watching()

    def test_a_watchdog_that_could_not_be_had_is_started_later(
        self, threads: Dispatcher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with no_threads(monkeypatch):
            threads._watchdog.arm()
            assert not threads._watchdog.armed
        held, over = threading.Event(), threading.Event()

        class Holding(Actor):
            registered = False

            def on_receive(self, message: Any) -> None:
                held.set()
                over.wait(20)

        Holding.start().tell("hold")
        assert held.wait(10)
        assert Echo.start().ask("overtakes", timeout=10) == "overtakes"
        over.set()

    def test_a_pinned_thread_that_comes_back_looks_for_one(
        self, threads: Dispatcher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Pinned(Echo):
            pinned = True

        pinned = Pinned.start()
        pinned.ask("started", timeout=10)
        with no_threads(monkeypatch):
            waiting = Echo.start().request("waits")
        assert pinned.ask("x", timeout=10) == "x"
        assert waiting.get(timeout=10) == "waits"

    def test_who_waits_for_quiet_looks_for_one(
        self, threads: Dispatcher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with no_threads(monkeypatch):
            waiting = Echo.start().request("waits")
        assert threads.wait_quiet(10)
        assert waiting.done

    def test_a_pinned_actor_runs_among_the_others(
        self, threads: Dispatcher, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        class Pinned(Echo):
            registered = True
            pinned = True

        Echo.start().ask("a thread is there", timeout=10)
        with no_threads(monkeypatch):
            ref = Pinned.start()
            assert ref.ask("hello", timeout=10) == "hello"
        assert ref.stop(timeout=10)
        assert not threads._pinned
        assert "it runs among those that share one" in caplog.text


class TestClosingAtTheSameMoment:
    def test_mail_that_comes_while_the_last_thread_leaves_is_answered(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        dispatcher = Dispatcher(name="left")
        with dispatcher:
            ref = Echo.start()
        ref.ask("x", timeout=10)
        assert until(lambda: dispatcher._parked is not None)
        answers: list[Future[Any]] = []
        leave: Callable[[DispatcherThread], None] = dispatcher._leave

        def leave_late(thread: DispatcherThread) -> None:
            asking = threading.Thread(target=lambda: answers.append(ref.request("just then")))
            asking.start()
            asking.join(10)
            leave(thread)

        monkeypatch.setattr(dispatcher, "_leave", leave_late)
        dispatcher.close()
        assert until(lambda: bool(answers))
        with pytest.raises(ActorDeadError):
            answers[0].get(timeout=10)
        assert not ref.is_alive()
        assert dispatcher.wait_quiet(10)

    @pytest.mark.parametrize("pinned", [False, True])
    def test_nobody_starts_on_a_closed_one(self, *, pinned: bool) -> None:
        class Echo(Actor):
            registered = False

        Echo.pinned = pinned
        dispatcher = Dispatcher(name="over")
        dispatcher.close()
        with (
            dispatcher,
            pytest.raises(DispatcherClosed, match="Echo cannot start on 'over', which was"),
        ):
            Echo.start()
        assert not dispatcher._pinned

    def test_the_first_message_after_it_is_a_dead_letter_and_the_next_is_refused(self) -> None:
        dispatcher = Dispatcher(name="over")
        with dispatcher:
            ref = Echo.start()
        ref.ask("x", timeout=10)
        dispatcher.close()
        assert until(lambda: not dispatcher._threads)
        ref.tell("too late")
        assert (dispatcher.dead_letters, ref.is_alive()) == (1, False)
        with pytest.raises(ActorDeadError):
            ref.tell("even later")

    @pytest.mark.parametrize("pinned", [False, True])
    @pytest.mark.parametrize("reentrant", [False, True])
    def test_a_handler_that_begins_to_wait_after_the_closing_is_ended(
        self, *, reentrant: bool, pinned: bool
    ) -> None:
        entered, closed = threading.Event(), threading.Event()

        class Late(Actor):
            registered = False

            async def on_receive(self, message: Any) -> None:
                entered.set()
                closed.wait(20)
                await Future[None]()

        Late.reentrant, Late.pinned = reentrant, pinned
        dispatcher = Dispatcher(name="late", patience=30)
        with dispatcher:
            ref = Late.start()
        answer = ref.request("wait")
        assert entered.wait(10)
        dispatcher.close()
        closed.set()
        with pytest.raises(ActorDeadError):
            answer.get(timeout=10)
        assert not ref.is_alive()

    def test_the_askers_of_a_reentrant_actor_that_waits_are_answered(self) -> None:
        class Never(Actor):
            registered = False
            reentrant = True

            async def on_receive(self, message: Any) -> None:
                if message == "wait":
                    await Future[None]()

        dispatcher = Dispatcher(name="reentrant")
        with dispatcher:
            ref = Never.start()
        answers = [ref.request("wait") for _ in range(3)]
        ref.ask("all wait", timeout=10)
        dispatcher.close()
        for answer in answers:
            with pytest.raises(ActorDeadError):
                answer.get(timeout=10)

    @pytest.mark.parametrize("moment", ["before", "after", "idle"])
    def test_a_timeout_ends_with_the_dispatcher_that_would_have_seen_to_it(self, moment: str) -> None:
        dispatcher = Dispatcher(name="timeless")
        with dispatcher:
            ref = Forgetful.start()
        answer = ref.request(1, timeout=None if moment == "after" else 600)
        assert until(lambda: hasattr(ref._actor, "reply"))
        if moment == "idle":
            assert until(lambda: dispatcher._parked is not None)
        dispatcher.close()
        if moment == "after":
            assert until(lambda: not dispatcher._threads)
            dispatcher.timers.expire(answer, 600)
        with pytest.raises(Timeout):
            answer.get(timeout=10)
        assert len(dispatcher.timers) == 0

    def test_a_reply_given_after_that_is_late_and_no_fault(self) -> None:
        dispatcher = Dispatcher(name="late")
        with dispatcher:
            ref = Forgetful.start()
        answer = ref.request(1, timeout=600)
        assert until(lambda: hasattr(ref._actor, "reply"))
        reply = ref._actor.reply  # type: ignore[union-attr]
        dispatcher.close()
        assert until(lambda: answer.done)
        reply.set("too late")
        assert dispatcher.late_replies == 1
