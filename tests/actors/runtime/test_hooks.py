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
    RestartChild,
    StartChild,
    StartFailed,
    StopChild,
    Supervisor,
)
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Boom, Failing


def lasts(error: BaseException) -> type[Failing]:
    """Make a kind of actor that raises this in its last hook."""

    class Last(Failing):
        def on_stop(self) -> None:
            raise error

        def on_failure(self, *_: Any) -> None:
            raise error

    return Last


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

    @pytest.mark.parametrize("end", ["stop", "failure"])
    @pytest.mark.parametrize("error", [GeneratorExit(), asyncio.CancelledError(), BaseException("odd")])
    def test_so_does_one_of_its_last_hook(
        self, error: BaseException, end: str, manual: ManualDispatcher
    ) -> None:
        supervisor, bystander = Supervisor.start([ChildSpec("odd", lasts(error))]), Failing.start()
        child: ActorRef[Any] = supervisor.ask(GetChild("odd"))
        if end == "failure":
            child.tell("boom")
        else:
            supervisor.ask(StopChild("odd"))
            child = supervisor.ask(RestartChild("odd"))
        assert child.ask("hello") == "hello"
        known = Supervisor.start()  # in the registry, as the first one is
        manual.settle()
        assert supervisor.is_alive()
        assert known.is_alive()
        assert bystander.is_alive()

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
    def test_the_end_of_the_program_in_a_last_hook_goes_up_to_a_top_that_nobody_has_registered(
        self, error: BaseException, manual: ManualDispatcher
    ) -> None:
        class Top(Supervisor):
            registered = False

        top = Top.start([ChildSpec("odd", lasts(error)), ChildSpec("other", Failing)])
        other: ActorRef[Any] = top.ask(GetChild("other"))
        top.ask(GetChild("odd")).stop(block=False)
        manual.settle()
        assert not other.is_alive()
        assert not top.is_alive()

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
