"""Supervisors beyond the matrix: orders of shutdown, escalation, floods, stops in the middle, commands."""

import asyncio
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    ActorRegistry,
    Backoff,
    ChildSpec,
    Dispatcher,
    Exit,
    Future,
    GetChild,
    ListChildren,
    RemoveChild,
    RestartChild,
    RestartIntensity,
    StartChild,
    StartFailed,
    StopChild,
    Supervisor,
    Terminated,
)
from showcaller.actors.runtime.testkit import ManualDispatcher, probe
from tests.actors.runtime.stage import Boom, Troupe


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


class Waiter(Actor):
    """Waits for ever when told."""

    registered = False

    def __init__(self, until: "Future[None] | None" = None) -> None:
        super().__init__()
        self.until: Future[None] = Future() if until is None else until
        self.ended = False

    async def on_receive(self, message: Any) -> Any:
        try:
            await self.until
        finally:
            self.ended = True
        return message


def stubborn(shutdown: Any) -> tuple[ActorRef[Supervisor], ActorRef[Any]]:
    """Start a supervisor with one child, which waits for ever in a handler."""
    supervisor = Supervisor.start([ChildSpec("stubborn", Waiter, shutdown=shutdown)])
    child: ActorRef[Any] = supervisor.ask(GetChild("stubborn"))
    child.tell("wait")
    return supervisor, child


class TestEscalation:
    def test_a_supervisor_that_gives_up_is_restarted_by_its_own(self, manual: ManualDispatcher) -> None:
        troupe_spec = ChildSpec("inner", Supervisor, ([ChildSpec("waiter", Failing)],))
        outer = Supervisor.start([troupe_spec])
        inner: ActorRef[Any] = outer.ask(GetChild("inner"))
        first: ActorRef[Any] = inner.ask(GetChild("waiter"))
        for _ in range(4):
            first.tell("boom")
            manual.settle()
        assert not first.is_alive()
        assert inner.is_alive(), "the supervisor kept its ref"
        second: ActorRef[Any] = inner.ask(GetChild("waiter"))
        assert second is not first
        assert second.ask("hello") == "hello"
        assert outer.ask(ListChildren())[0].restarts == 1

    def test_the_reason_goes_up_with_its_cause(self, manual: ManualDispatcher) -> None:
        supervisor = Supervisor.start([ChildSpec("failing", Failing)], intensity=RestartIntensity(0, 1))
        watcher, got = probe()
        supervisor.add_watcher(watcher)
        supervisor.ask(GetChild("failing")).tell("boom")
        manual.settle()
        (terminated,) = got
        assert terminated.reason.kind == "failed"
        assert "more than 0 times in 1 s" in str(terminated.reason.error)
        assert isinstance(terminated.reason.error.__cause__, Boom)

    def test_a_child_that_cannot_start_fails_the_whole_tree_below(self, manual: ManualDispatcher) -> None:
        outer = Supervisor.start([ChildSpec("inner", Supervisor, ([ChildSpec("no", Unwilling)],))])
        watcher, got = probe()
        outer.add_watcher(watcher)
        manual.settle()
        assert got[0].reason.kind == "unstarted"
        assert "'inner' did not start" in str(got[0].reason.error)
        assert "'no' did not start" in str(got[0].reason.error.__cause__)

    def test_a_supervisor_starts_after_its_children_and_before_the_next(
        self, manual: ManualDispatcher
    ) -> None:
        troupe = Troupe(manual)
        log, troupe.unwilling = troupe.log, set()
        inner = ChildSpec("inner", Supervisor, ([troupe.spec("x"), troupe.spec("y")],))
        log.clear()
        outer = Supervisor.start([inner, troupe.spec("z")])
        manual.settle()
        assert log == ["x starts", "y starts", "z starts"]
        log.clear()
        outer.stop()
        assert log == ["z stops", "y stops", "x stops"]


class Failing(Actor):
    """Answers, and fails on demand."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        if message == "boom":
            raise Boom
        if isinstance(message, BaseException):
            raise message
        return message


class Unwilling(Actor):
    """Does not even get made."""

    registered = False

    def __init__(self) -> None:
        super().__init__()
        raise Boom


class TestBackoff:
    def test_a_restart_waits_longer_each_time(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual, backoff=Backoff(first=1, factor=3), intensity=RestartIntensity(100, 1))
        troupe.news()
        for wait in (1, 3, 9):
            troupe["b"].tell("boom")
            assert troupe.news() == ["b fails"]
            assert troupe.states()["b"] == "waiting"
            manual.advance(wait - 0.01)
            assert troupe.news() == []
            manual.advance(0.02)
            assert troupe.news() == ["b starts"]

    def test_a_calm_child_begins_anew(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual, backoff=Backoff(first=1, factor=3, calm=10))
        for _ in range(3):
            troupe["b"].tell("boom")
            manual.advance(1)
            assert troupe.states()["b"] == "running"
            manual.advance(10)

    def test_mail_waits_for_the_next_life(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual, backoff=Backoff(first=60))
        troupe["b"].tell("boom")
        manual.settle()
        answer = troupe["b"].ask("patience", block=False)
        manual.advance(59)
        assert not answer.done
        manual.advance(1)
        assert answer.get() == "patience"

    def test_stop_while_a_child_waits_ends_it(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual, backoff=Backoff(first=60))
        troupe["b"].tell("boom")
        manual.settle()
        answer = troupe["b"].ask("too late", block=False)
        assert troupe.supervisor.stop() is True
        assert not troupe["b"].is_alive()
        with pytest.raises(ActorDeadError):
            answer.get()

    def test_stopping_the_waiting_child_lets_the_others_go_on(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual, strategy="one_for_all", backoff=Backoff(first=60))
        troupe["b"].tell("boom")
        manual.settle()
        assert troupe.states() == {"a": "waiting", "b": "waiting", "c": "waiting"}
        troupe.supervisor.ask(StopChild("b"))
        assert troupe.states() == {"a": "running", "b": "stopped", "c": "running"}


class TestMail:
    def test_a_restart_keeps_the_mailbox_and_its_order(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        troupe.news()
        for message in ("one", "boom", "two", "boom", "three"):
            troupe["b"].tell(message)
        assert troupe.news() == [
            "b gets one",
            "b fails",
            "b starts",
            "b gets two",
            "b fails",
            "b starts",
            "b gets three",
        ]

    def test_an_asked_message_that_raises_is_answered_and_is_no_failure(
        self, manual: ManualDispatcher
    ) -> None:
        troupe = Troupe(manual)
        with pytest.raises(Boom):
            troupe["b"].ask("boom")
        assert troupe.restarted()["b"] == 0

    def test_asks_behind_a_failure_wait_for_the_next_life(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        troupe["b"].tell("boom")
        answers = [troupe["b"].ask(number, block=False) for number in range(3)]
        manual.settle()
        assert [answer.get() for answer in answers] == [0, 1, 2]

    def test_the_ask_that_a_killed_handler_owed_is_answered_and_the_rest_wait(
        self, manual: ManualDispatcher
    ) -> None:
        until: Future[None] = Future()
        supervisor = Supervisor.start([ChildSpec("waiter", Waiter, (until,))])
        child: ActorRef[Any] = supervisor.ask(GetChild("waiter"))
        owed = child.ask("owed", block=False)
        behind = child.ask("behind", block=False)
        manual.settle()
        child.kill()
        manual.settle()
        with pytest.raises(ActorDeadError, match="ended before it answered"):
            owed.get()
        until.set(None)
        manual.settle()
        assert behind.get() == "behind"

    def test_a_flood_survives_restarts_and_is_handled_in_order(self, threads: Dispatcher) -> None:
        got: list[int] = []

        class Flooded(Actor):
            registered = False

            def on_receive(self, message: int) -> Any:
                if message == -1:
                    raise Boom
                got.append(message)
                return message

        intensity = RestartIntensity(1_000, 1)
        supervisor = Supervisor.start([ChildSpec("flooded", Flooded)], intensity=intensity)
        child: ActorRef[Any] = supervisor.ask(GetChild("flooded"))
        for number in range(5_000):
            child.tell(number)
            if number % 100 == 50:
                child.tell(-1)
        assert child.ask(5_000, timeout=20) == 5_000
        assert got == list(range(5_001))
        assert supervisor.ask(ListChildren())[0].restarts == 50
        assert supervisor.stop(timeout=20) is True

    def test_an_order_to_stop_that_was_not_reached_is_void_in_the_next_life(
        self, manual: ManualDispatcher
    ) -> None:
        """A sibling fails by itself before it gets to the order to stop for the restart of all."""
        troupe = Troupe(manual, strategy="one_for_all")
        troupe.news()
        troupe["a"].tell("boom")
        troupe["c"].tell("boom")
        assert troupe.news() == ["a fails", "c fails", "b stops", "a starts", "b starts", "c starts"]
        assert troupe.restarted() == {"a": 1, "b": 1, "c": 1}

    def test_stop_in_the_middle_of_restarts_ends_everything(self, threads: Dispatcher) -> None:
        for strategy in ("one_for_one", "one_for_all", "rest_for_one") * 5:
            intensity = RestartIntensity(1_000_000, 1)
            specs = [ChildSpec(name, Failing) for name in "abc"]
            supervisor = Supervisor.start(specs, strategy=strategy, intensity=intensity)
            refs: list[ActorRef[Any]] = [supervisor.ask(GetChild(name), timeout=10) for name in "abc"]
            for number in range(60):
                refs[number % 3].tell("boom")
            answers = [ref.ask("hello", block=False) for ref in refs]
            assert supervisor.stop(timeout=20) is True
            assert not any(ref.is_alive() for ref in refs)
            for answer in answers:
                try:
                    assert answer.get(timeout=10) == "hello"
                except ActorDeadError:
                    continue

    def test_children_of_a_pinned_supervisor_run_at_home(self, threads: Dispatcher) -> None:
        class Pinned(Supervisor):
            pinned = True

        supervisor = Pinned.start([ChildSpec("child", Failing)])
        child: ActorRef[Any] = supervisor.ask(GetChild("child"), timeout=10)
        assert child.dispatcher is threads
        child.tell("boom")
        assert child.ask("hello", timeout=10) == "hello"
        assert supervisor.stop(timeout=10) is True


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


class TestCommands:
    def test_a_child_can_be_added_and_removed(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        ref: ActorRef[Any] = troupe.supervisor.ask(StartChild(troupe.spec("d")))
        assert ref.ask("hello") == "hello"
        assert list(troupe.states()) == ["a", "b", "c", "d"]
        troupe.supervisor.ask(RemoveChild("d"))
        assert list(troupe.states()) == ["a", "b", "c"]
        assert not ref.is_alive()

    def test_a_child_that_does_not_start_is_not_added(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        with pytest.raises(StartFailed) as failed:
            troupe.supervisor.ask(StartChild(ChildSpec("no", Unwilling)))
        assert isinstance(failed.value.__cause__, Boom)
        assert list(troupe.states()) == ["a", "b", "c"]

    def test_a_stopped_child_can_be_restarted(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        troupe.supervisor.ask(StopChild("b"))
        assert troupe.states()["b"] == "stopped"
        assert troupe.get("b") is None
        ref: ActorRef[Any] = troupe.supervisor.ask(RestartChild("b"))
        assert ref.ask("hello") == "hello"

    @pytest.mark.parametrize("command", [StopChild("x"), RestartChild("x"), RemoveChild("x")])
    def test_an_unknown_child_is_refused(self, command: Any, manual: ManualDispatcher) -> None:
        with pytest.raises(LookupError, match="no child 'x'"):
            Troupe(manual).supervisor.ask(command)

    def test_a_running_child_is_not_restarted(self, manual: ManualDispatcher) -> None:
        with pytest.raises(ValueError, match="'b' is running"):
            Troupe(manual).supervisor.ask(RestartChild("b"))

    def test_a_name_is_given_once(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        with pytest.raises(ValueError, match="has a child 'a' already"):
            troupe.supervisor.ask(StartChild(troupe.spec("a")))

    def test_a_stopping_supervisor_takes_no_commands(self, manual: ManualDispatcher) -> None:
        supervisor, child = stubborn(shutdown="infinity")
        stopping = supervisor.stop(block=False)
        manual.settle()
        with pytest.raises(ActorDeadError, match="is stopping"):
            supervisor.ask(StartChild(ChildSpec("late", Failing)))
        child.kill()
        manual.settle()
        assert stopping.get() is True

    def test_a_removed_child_does_not_come_back_with_the_others(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual, strategy="one_for_all")
        removed = troupe.supervisor.ask(RemoveChild("b"), block=False)
        troupe["a"].tell("boom")
        manual.settle()
        assert removed.get() is None
        assert troupe.states() == {"a": "running", "c": "running"}


class TestWatch:
    def test_a_watcher_is_told_once_how_it_ended(self, manual: ManualDispatcher) -> None:
        watcher, got = probe()
        ref = Failing.start()
        ref.add_watcher(watcher)
        ref.add_watcher(watcher)
        ref.tell("boom")
        manual.settle()
        (terminated,) = got
        assert isinstance(terminated, Terminated)
        assert terminated.ref is ref
        assert terminated.reason.kind == "failed"
        assert isinstance(terminated.reason.error, Boom)

    @pytest.mark.parametrize("ending", ["normal", "killed"])
    def test_the_reason_says_which_end_it_was(self, ending: str, manual: ManualDispatcher) -> None:
        watcher, got = probe()
        ref = Failing.start()
        ref.add_watcher(watcher)
        if ending == "normal":
            ref.stop()
        else:
            ref.kill()
        manual.settle()
        assert got == [Terminated(ref, Exit(ending))]  # type: ignore[arg-type]

    def test_who_watches_a_dead_actor_is_told_at_once(self, manual: ManualDispatcher) -> None:
        watcher, got = probe()
        ref = Failing.start()
        ref.kill()
        manual.settle()
        ref.add_watcher(watcher)
        manual.settle()
        assert got == [Terminated(ref, Exit("killed"))]

    def test_who_no_longer_watches_is_not_told(self, manual: ManualDispatcher) -> None:
        watcher, got = probe()
        ref = Failing.start()
        ref.add_watcher(watcher)
        ref.remove_watcher(watcher)
        ref.stop()
        manual.settle()
        assert got == []

    def test_a_restart_is_not_the_end(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        watcher, got = probe()
        troupe["b"].add_watcher(watcher)
        troupe["b"].tell("boom")
        manual.settle()
        assert got == []
        troupe.supervisor.stop()
        manual.settle()
        assert [item.reason.kind for item in got] == ["shutdown"]

    def test_an_actor_watches_by_its_own_method(self, manual: ManualDispatcher) -> None:
        seen: list[Any] = []

        class Watcher(Actor):
            def __init__(self, ref: ActorRef[Any]) -> None:
                super().__init__()
                self.watch(ref)

            def on_receive(self, message: Any) -> None:
                seen.append(message)

        ref = Failing.start()
        Watcher.start(ref)
        ref.stop()
        manual.settle()
        assert [item.ref for item in seen] == [ref]
