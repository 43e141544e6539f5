"""Hooks of supervised children that fail, wait, or raise what ends programs."""

import asyncio
from typing import Any

import pytest

from showcaller.actors.runtime import (
    ActorRef,
    ChildSpec,
    Future,
    GetChild,
    ListChildren,
    StartChild,
    StartFailed,
    Supervisor,
)
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Boom, Failing


class TestHooks:
    def test_a_failing_on_failure_changes_nothing(self, manual: ManualDispatcher) -> None:
        class Twice(Failing):
            def on_failure(self, *error: Any) -> None:
                raise Boom("again")

        supervisor = Supervisor.start([ChildSpec("twice", Twice)])
        child: ActorRef[Any] = supervisor.ask(GetChild("twice"))
        child.tell("boom")
        assert child.ask("hello") == "hello"
        assert supervisor.ask(ListChildren())[0].restarts == 1

    def test_a_failing_on_stop_still_stops(self, manual: ManualDispatcher) -> None:
        class Clumsy(Failing):
            def on_stop(self) -> None:
                raise Boom

        supervisor = Supervisor.start([ChildSpec("clumsy", Clumsy)])
        assert supervisor.stop() is True

    @pytest.mark.parametrize("error", [GeneratorExit(), asyncio.CancelledError(), BaseException("odd")])
    def test_an_odd_base_exception_stays_with_the_child(
        self, error: BaseException, manual: ManualDispatcher
    ) -> None:
        supervisor = Supervisor.start([ChildSpec("odd", Failing)])
        bystander = Failing.start()
        child: ActorRef[Any] = supervisor.ask(GetChild("odd"))
        child.tell(error)
        manual.settle()
        assert child.ask("hello") == "hello"
        assert bystander.is_alive()

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
    def test_the_end_of_the_program_goes_up_to_the_top(
        self, error: BaseException, manual: ManualDispatcher
    ) -> None:
        outer = Supervisor.start([ChildSpec("inner", Supervisor, ([ChildSpec("odd", Failing)],))])
        child: ActorRef[Any] = outer.ask(GetChild("inner")).ask(GetChild("odd"))
        child.tell(error)
        manual.settle()
        assert not child.is_alive()
        assert not outer.is_alive()

    def test_an_on_start_that_waits_holds_back_the_mail_and_the_next_child(
        self, manual: ManualDispatcher
    ) -> None:
        ready: Future[None] = Future()

        class Late(Failing):
            async def on_start(self) -> None:  # type: ignore[override]
                await ready

        supervisor = Supervisor.start([ChildSpec("late", Late), ChildSpec("next", Failing)])
        manual.settle()
        states = [info.state for info in supervisor.ask(ListChildren())]
        assert states == ["starting", "stopped"]
        found = supervisor.ask(GetChild("next"), block=False)
        assert not found.done
        ready.set(None)
        manual.settle()
        assert found.get().ask("hello") == "hello"

    def test_stop_while_a_child_starts_kills_it_after_its_time(self, manual: ManualDispatcher) -> None:
        class Never(Failing):
            async def on_start(self) -> None:  # type: ignore[override]
                await Future[None]()

        supervisor = Supervisor.start([ChildSpec("never", Never, shutdown=3.0)])
        manual.settle()
        stopping = supervisor.stop(block=False)
        manual.advance(3)
        assert stopping.get() is True
        assert manual.suspended == {}

    def test_a_failing_reentrant_start_is_a_start_failure(self, manual: ManualDispatcher) -> None:
        class Slow(Failing):
            reentrant = True

            async def on_start(self) -> None:  # type: ignore[override]
                await self.actor_ref.request("hello")
                raise Boom

        supervisor = Supervisor.start([])
        with pytest.raises(StartFailed, match="'slow' did not start: unstarted"):
            supervisor.ask(StartChild(ChildSpec("slow", Slow)))
