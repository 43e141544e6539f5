"""The rule of time under a manual dispatcher, and what becomes of handlers that wait."""

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    ChildSpec,
    Future,
    GetChild,
    Supervisor,
    Timeout,
    testkit,
)
from showcaller.actors.runtime.testkit import ManualDispatcher, NeverSettles, NothingToRun, probe

Deed = Callable[[], Any]


class Doing(Actor):
    """Does what it is sent, and answers with what comes of it."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        return message() if callable(message) else message


def waits_in_vain(seconds: float | None = None) -> ActorRef[Any]:
    """Start an actor whose handler is to wait for what never comes."""
    ref = Doing.start()
    ref.tell(lambda: Future[None]().get(timeout=seconds))
    return ref


class TestTime:
    def test_no_more_passes_than_was_asked_for(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        ref.tell_after(3600, "later")
        Doing.start().tell(lambda: Doing.start().ask(lambda: Future[None]().get(timeout=9000)))
        manual.advance(10)
        assert (manual.clock.monotonic(), got) == (10.0, [])

    @pytest.mark.parametrize("turn", [ManualDispatcher.step, ManualDispatcher.settle])
    def test_a_handler_that_waits_lets_none_pass(
        self, manual: ManualDispatcher, turn: Callable[[ManualDispatcher], object]
    ) -> None:
        ref, got = probe()
        ref.tell_after(5, "later")
        waits_in_vain(60)
        waits_in_vain()
        for _ in range(5):
            turn(manual)
        assert (manual.clock.monotonic(), got) == (0.0, [])

    def test_steps_and_settling_come_to_an_end_beside_a_timer_that_is_repeated(
        self, manual: ManualDispatcher
    ) -> None:
        ref, got = probe()
        ref.tell_every(600, "tick")
        waits_in_vain()
        assert [manual.step() for _ in range(3)] == [True, True, False]
        assert manual.settle(limit=3) == 0
        manual.advance(1200)
        assert got == ["tick", "tick"]

    def test_advance_ends_each_wait_at_its_own_moment(self, manual: ManualDispatcher) -> None:
        ended: list[float] = []

        def wait(seconds: float) -> Deed:
            def do() -> None:
                with pytest.raises(Timeout):
                    Future[None]().get(timeout=seconds)
                ended.append(manual.clock.monotonic())

            return do

        for seconds in (50, 10, 30, 11):
            Doing.start().tell(wait(seconds))
        manual.settle()
        manual.advance(11)
        assert ended == [10.0, 11.0]
        manual.advance(100)
        assert ended == [10.0, 11.0, 30.0, 50.0]

    def test_a_get_that_only_timers_keep_going_is_given_up(
        self, manual: ManualDispatcher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(testkit, "SETTLE_LIMIT", 1000)
        ref, _ = probe()
        ref.tell_every(1, "tick")
        with pytest.raises(NeverSettles, match="still not done after 1000 steps"):
            Future[None]().get()


class TestHandlersThatWait:
    def test_one_goes_on_when_its_reply_comes_later(self, manual: ManualDispatcher) -> None:
        wanted = Future[int]()
        reply = Doing.start().request(wanted.get)
        manual.settle()
        assert not reply.done
        wanted.set(3)
        assert reply.get() == 3

    def test_many_stay_waiting_and_go_on_in_any_order(self, manual: ManualDispatcher) -> None:
        wanted = [Future[int]() for _ in range(40)]
        replies = [Doing.start().request(future.get) for future in wanted]
        manual.settle()
        for number in (*range(0, 40, 2), *range(39, 0, -2)):
            wanted[number].set(number)
            assert manual.settle() == 1
            assert replies[number].done
        assert [reply.get() for reply in replies] == list(range(40))

    def test_what_they_owe_is_no_fault_of_theirs(self, manual: ManualDispatcher) -> None:
        wanted = Future[int]()
        ref = Doing.start()
        first, second = ref.request(wanted.get), ref.request("next")
        for reply in (first, second):
            with pytest.raises(NothingToRun):
                reply.get()
        wanted.set(3)
        assert (second.get(), first.get()) == ("next", 3)

    @pytest.mark.parametrize(
        "turn",
        [ManualDispatcher.settle, ManualDispatcher.step, lambda manual: manual.advance(5)],
        ids=["settle", "step", "advance"],
    )
    def test_a_handler_below_others_may_turn_the_dispatcher(
        self, manual: ManualDispatcher, turn: Callable[[ManualDispatcher], object]
    ) -> None:
        below = Doing.start()

        def turns() -> str:
            turn(manual)
            return "turned"

        assert Doing.start().ask(lambda: below.ask(turns)) == "turned"

    def test_one_that_turns_the_dispatcher_lets_those_that_wait_go_on(self, manual: ManualDispatcher) -> None:
        wanted = Future[int]()
        waiting = Doing.start().request(wanted.get)
        manual.settle()

        def turns() -> bool:
            wanted.set(1)
            manual.settle()
            return waiting.done

        assert Doing.start().ask(turns) is True

    def test_one_is_killed_when_the_time_for_its_shutdown_is_over(self, manual: ManualDispatcher) -> None:
        supervisor = Supervisor.start([ChildSpec("a", Doing, shutdown=5.0)])
        child = supervisor.ask(GetChild("a"))
        assert child is not None
        waiting = child.request(Future[None]().get)
        manual.settle()
        supervisor.stop(block=False)
        manual.advance(4)
        assert supervisor.is_alive()
        assert not waiting.done
        manual.advance(1)
        assert not supervisor.is_alive()
        with pytest.raises(ActorDeadError):
            waiting.get()

    def test_they_see_what_the_test_has_set_in_its_context(self, manual: ManualDispatcher) -> None:
        variable = contextvars.ContextVar("variable", default="unset")
        variable.set("set")
        assert Doing.start().ask(lambda: Doing.start().ask(variable.get)) == "set"

    def test_threads_are_used_again(self, manual: ManualDispatcher) -> None:
        def threads() -> int:
            return sum(thread.name == "manual" for thread in threading.enumerate())

        Doing.start().ask(lambda: Doing.start().ask(1))
        before = threads()
        for _ in range(100):
            Doing.start().ask(lambda: Doing.start().ask(1))
        assert threads() <= before
