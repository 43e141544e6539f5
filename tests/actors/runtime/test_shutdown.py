"""Supervisors that stop: the order of their children, and the time that each is given."""

from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorRef,
    ActorRegistry,
    Backoff,
    ChildSpec,
    Future,
    GetChild,
    RestartChild,
    RestartIntensity,
    StartChild,
    StartFailed,
    StopChild,
    Supervisor,
)
from showcaller.actors.runtime.strategy import Strategy
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Boom, Failing, Player, Troupe, Waiter, stubborn


class Starting(Actor):
    """Starts when its future is done, and notes that it was told to stop."""

    registered = False

    def __init__(self, until: Future[None], log: list[str]) -> None:
        super().__init__()
        self.until = until
        self.log = log

    async def on_start(self) -> None:  # type: ignore[override]
        await self.until

    def on_stop(self) -> None:
        self.log.append("stops")


class TestShutdown:
    def test_children_stop_in_reverse_order_of_start(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        troupe.news()
        assert troupe.supervisor.stop() is True
        assert troupe.log == ["c stops", "b stops", "a stops"]
        assert not troupe.supervisor.is_alive()

    def test_a_child_handles_the_mail_that_is_there_before_it_stops(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        troupe.news()
        troupe["c"].tell("one")
        troupe["c"].tell("two")
        troupe.supervisor.stop()
        assert troupe.log == ["c gets one", "c gets two", "c stops", "b stops", "a stops"]

    def test_a_child_that_does_not_stop_in_time_is_killed(self, manual: ManualDispatcher) -> None:
        supervisor, child = stubborn(shutdown=2.0)
        stopping = supervisor.stop(block=False)
        manual.advance(1.9)
        assert not stopping.done
        assert child.is_alive()
        manual.advance(0.2)
        assert stopping.get() is True
        assert not child.is_alive()

    def test_infinity_waits_as_long_as_it_takes(self, manual: ManualDispatcher) -> None:
        supervisor, child = stubborn(shutdown="infinity")
        stopping = supervisor.stop(block=False)
        manual.advance(100_000)
        assert child.is_alive()
        assert not stopping.done
        child.kill()
        manual.settle()
        assert stopping.get() is True

    def test_kill_does_not_wait(self, manual: ManualDispatcher) -> None:
        supervisor, child = stubborn(shutdown="kill")
        assert supervisor.stop() is True
        assert manual.clock.monotonic() == 0
        assert not child.is_alive()

    def test_killing_a_supervisor_kills_its_children(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        troupe.news()
        troupe.supervisor.kill()
        assert troupe.news() == []
        assert not any(troupe[name].is_alive() for name in "abc")

    def test_two_stops_are_both_answered(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        stops = [troupe.supervisor.stop(block=False) for _ in range(2)]
        manual.settle()
        assert [stop.get() for stop in stops] == [True, True]

    def test_a_stop_is_answered_when_the_supervisor_is_killed_meanwhile(
        self, manual: ManualDispatcher
    ) -> None:
        supervisor, child = stubborn(shutdown="infinity")
        stops = [supervisor.stop(block=False) for _ in range(2)]
        manual.settle()
        supervisor.kill()
        manual.settle()
        assert [stop.get() for stop in stops] == [True, True]
        assert not child.is_alive()

    @pytest.mark.parametrize("told", [StopChild("stubborn"), StartChild(ChildSpec("late", Waiter))])
    def test_a_command_told_during_a_stop_does_not_disturb_it(
        self, told: Any, manual: ManualDispatcher, caplog: pytest.LogCaptureFixture
    ) -> None:
        supervisor, child = stubborn(shutdown="infinity")
        stopping = supervisor.stop(block=False)
        supervisor.tell(told)
        manual.settle()
        assert child.is_alive()
        assert not stopping.done
        assert "is stopping its children" in caplog.text
        child.kill()
        manual.settle()
        assert stopping.get() is True

    def test_a_failure_during_a_stop_answers_it(self, manual: ManualDispatcher) -> None:
        class Touchy(Supervisor):
            def on_receive(self, message: Any) -> Any:
                if message == "boom":
                    raise Boom
                return super().on_receive(message)

        supervisor = Touchy.start([ChildSpec("stubborn", Waiter, shutdown="infinity")])
        supervisor.ask(GetChild("stubborn")).tell("wait")
        stopping = supervisor.stop(block=False)
        supervisor.tell("boom")
        manual.settle()
        assert stopping.get() is True
        assert not supervisor.is_alive()

    def test_a_start_that_fails_during_a_stop_does_not_hold_it_up(self, manual: ManualDispatcher) -> None:
        until = Future[None]()
        supervisor = Supervisor.start([ChildSpec("last", Waiter, shutdown="infinity")])
        last: ActorRef[Any] = supervisor.ask(GetChild("last"))
        last.tell("wait")
        added = supervisor.ask(StartChild(ChildSpec("new", Starting, (until, []))), block=False)
        manual.settle()
        stopping = supervisor.stop(block=False)
        manual.settle()
        until.set_exception(Boom())
        manual.settle()
        last.kill()
        manual.settle()
        assert stopping.get() is True
        assert added.done

    def test_a_restart_that_fails_while_a_later_child_stops_does_not_hold_the_stop_up(
        self, manual: ManualDispatcher
    ) -> None:
        until, log = Future[None](), list[str]()
        until.set(None)
        starts = [until, second := Future[None]()]

        class Twice(Starting):
            async def on_start(self) -> None:  # type: ignore[override]
                await starts.pop(0)

            def on_receive(self, message: Any) -> None:
                raise Boom

        supervisor = Supervisor.start(
            [ChildSpec("twice", Twice, (until, log)), ChildSpec("last", Waiter, shutdown="infinity")]
        )
        last: ActorRef[Any] = supervisor.ask(GetChild("last"))
        last.tell("wait")
        supervisor.ask(GetChild("twice")).tell("boom")
        manual.settle()
        stopping = supervisor.stop(block=False)
        manual.settle()
        second.set_exception(Boom())
        manual.settle()
        assert not stopping.done
        last.kill()
        manual.settle()
        assert stopping.get() is True

    def test_a_child_that_still_starts_is_stopped_in_order(self, manual: ManualDispatcher) -> None:
        until, log = Future[None](), list[str]()
        supervisor = Supervisor.start()
        supervisor.ask(StartChild(ChildSpec("new", Starting, (until, log))), block=False)
        manual.settle()
        stopping = supervisor.stop(block=False)
        manual.settle()
        assert not stopping.done
        until.set(None)
        manual.settle()
        assert stopping.get() is True
        assert log == ["stops"]

    @pytest.mark.parametrize("backoff", [None, Backoff(1.0)])
    def test_a_child_that_fails_while_another_stops_is_not_started_again(
        self, backoff: Backoff | None, manual: ManualDispatcher
    ) -> None:
        log: list[str] = []
        supervisor = Supervisor.start(
            [
                ChildSpec("a", Player, ("a", log, set()), backoff=backoff),
                ChildSpec("last", Waiter, shutdown="infinity"),
            ]
        )
        last: ActorRef[Any] = supervisor.ask(GetChild("last"))
        first: ActorRef[Any] = supervisor.ask(GetChild("a"))
        last.tell("wait")
        manual.settle()
        stopping = supervisor.stop(block=False)
        manual.settle()
        first.tell("boom")
        manual.advance(10)
        last.kill()
        manual.advance(10)
        assert stopping.get() is True
        assert log == ["a starts", "a fails"]

    def test_when_a_stop_is_answered_nobody_below_is_alive_not_even_who_waited_for_a_restart(
        self, manual: ManualDispatcher
    ) -> None:
        troupe = Troupe(manual, backoff=Backoff(first=60))
        troupe["b"].tell("boom")
        manual.settle()
        stopped = troupe.supervisor.stop(block=False)
        while not stopped.done:
            assert manual.step()
        assert not troupe["b"].is_alive()

    @pytest.mark.parametrize("strategy", ["one_for_one", "one_for_all", "rest_for_one"])
    def test_nor_is_anybody_alive_when_it_comes_in_the_middle_of_restarts(self, strategy: Strategy) -> None:
        for seed in range(60):
            with ManualDispatcher(seed=seed) as manual:
                specs = [ChildSpec(name, Failing) for name in "abc"]
                supervisor = Supervisor.start(
                    specs, strategy=strategy, intensity=RestartIntensity(1_000_000, 1)
                )
                refs: list[ActorRef[Any]] = [supervisor.ask(GetChild(name)) for name in "abc"]
                for number in range(6):
                    refs[number % 3].tell("boom")
                for _ in range(seed % 20):
                    manual.step()
                stopped = supervisor.stop(block=False)
                while not stopped.done:
                    assert manual.step()
                assert [ref.is_alive() for ref in refs] == [False, False, False], f"seed {seed}"

    def test_nor_is_one_whose_start_has_just_failed(self) -> None:
        for seed in range(60):
            with ManualDispatcher(seed=seed) as manual:
                refs: list[ActorRef[Any]] = []

                class Refusing(Actor):
                    def on_start(self) -> None:
                        refs.append(self.actor_ref)  # noqa: B023 - used in this round only
                        raise Boom

                supervisor = Supervisor.start()
                manual.settle()
                added = supervisor.ask(StartChild(ChildSpec("refusing", Refusing)), block=False)
                for _ in range(seed % 6):
                    manual.step()
                stopped = supervisor.stop(block=False)
                while not stopped.done:
                    assert manual.step()
                assert not any(ref.is_alive() for ref in refs), f"seed {seed}"
                manual.settle()
                assert added.done

    @pytest.mark.parametrize("shutdown", [0, 0.01])
    def test_nor_is_one_that_has_not_begun_when_its_time_is_over(
        self, shutdown: float, manual: ManualDispatcher
    ) -> None:
        made: list[bool] = []

        class Noting(Actor):
            def __init__(self) -> None:
                made.append(stopped.done)
                super().__init__()

        supervisor = Supervisor.start()
        manual.settle()
        supervisor.ask(StartChild(ChildSpec("late", Noting, shutdown=shutdown)), block=False)
        stopped = supervisor.stop(block=False)
        manual.step()  # both are ordered, and the child is ready
        manual.manual_clock.move_to(shutdown)
        late = manual.take_ready()
        manual.timers.fire_due()
        manual.step()
        assert late is not None
        manual.schedule(late)
        manual.settle()
        assert stopped.done
        assert made == [False]

    def test_who_waits_first_in_its_own_on_start_starts_nobody_when_it_is_to_stop(
        self, manual: ManualDispatcher
    ) -> None:
        ready, log = Future[None](), list[str]()

        class Patient(Supervisor):
            async def on_start(self) -> None:  # type: ignore[override]
                await ready
                await super().on_start()

        supervisor = Patient.start([ChildSpec("a", Player, ("a", log, set()))])
        last: ActorRef[Any] = supervisor.ask(StartChild(ChildSpec("last", Waiter, shutdown="infinity")))
        last.tell("wait")
        stopped = supervisor.stop(block=False)
        manual.settle()
        ready.set(None)
        manual.settle()
        last.kill()
        manual.settle()
        assert stopped.get() is True
        assert log == []

    def test_when_a_child_has_stopped_for_somebody_it_is_dead(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual, backoff=Backoff(first=60))
        ref = troupe["b"]
        ref.tell("boom")
        manual.settle()
        stopped = troupe.supervisor.ask(StopChild("b"), block=False)
        while not stopped.done:
            assert manual.step()
        assert not ref.is_alive()
        assert troupe.states()["b"] == "stopped"

    def test_a_start_that_has_failed_can_be_tried_again_at_once(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        troupe.supervisor.ask(StopChild("b"))
        troupe.unwilling.add("b")
        failed = troupe.supervisor.ask(RestartChild("b"), block=False)
        while not failed.done:
            assert manual.step()
        assert isinstance(failed.error, StartFailed)
        troupe.unwilling.clear()
        assert troupe.supervisor.ask(RestartChild("b")).ask("hello") == "hello"

    def test_the_registry_knows_supervisors_but_not_their_children(self, manual: ManualDispatcher) -> None:
        class Known(Actor):
            registered = True

        supervisor = Supervisor.start([ChildSpec("known", Known)])
        manual.settle()
        assert ActorRegistry.get_by_class(Known) == []
        assert supervisor in ActorRegistry.get_all()
        ActorRegistry.stop_all(block=False)
        manual.settle()
        assert not supervisor.is_alive()
