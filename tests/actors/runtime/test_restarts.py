"""Restarts beyond the matrix: escalation, back-off, and the mail that waits for the next life."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    Backoff,
    ChildSpec,
    Dispatcher,
    Future,
    GetChild,
    ListChildren,
    RemoveChild,
    RestartIntensity,
    StartChild,
    StopChild,
    Supervisor,
)
from showcaller.actors.runtime.strategy import Strategy
from showcaller.actors.runtime.testkit import ManualDispatcher, probe
from tests.actors.runtime.stage import Boom, Failing, Troupe, Unwilling, Waiter


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

    def test_one_that_cannot_start_for_long_is_not_calm(self, manual: ManualDispatcher) -> None:
        starts: list[float] = []

        class Down(Failing):
            def on_start(self) -> None:
                starts.append(manual.clock.monotonic())
                if len(starts) > 1:
                    raise Boom

        backoff = Backoff(first=1, factor=2, longest=64, calm=60)
        supervisor = Supervisor.start([ChildSpec("down", Down, backoff=backoff)])
        supervisor.ask(GetChild("down")).tell("boom")
        manual.advance(255)
        waits = [later - earlier for earlier, later in itertools.pairwise(starts)]
        assert waits == [1, 2, 4, 8, 16, 32, 64, 64, 64]

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

    def test_a_child_is_not_started_before_one_that_it_follows(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual, strategy="rest_for_one")
        log = troupe.log
        for spec, seconds in zip(troupe.specs, (10, 5, 5), strict=True):
            troupe.supervisor.ask(RemoveChild(spec.name))
            troupe.supervisor.ask(StartChild(replace(spec, backoff=Backoff(float(seconds)))))
        a, b = troupe.get("a"), troupe.get("b")
        assert a is not None
        assert b is not None
        b.tell("boom")
        manual.advance(1)
        a.tell("boom")
        manual.settle()
        log.clear()
        manual.advance(9.5)
        assert log == [], "b's back-off is over, a's is not"
        manual.advance(1)
        assert log == ["a starts", "b starts", "c starts"]
        manual.advance(60)
        assert len(log) == 3

    @pytest.mark.parametrize("strategy", ["rest_for_one", "one_for_all"])
    def test_who_is_stopped_meanwhile_is_not_started_with_the_others(
        self, strategy: Strategy, manual: ManualDispatcher
    ) -> None:
        troupe = Troupe(manual, strategy=strategy, backoff=Backoff(10.0))
        troupe["a"].tell("boom")
        manual.settle()
        troupe.supervisor.ask(StopChild("b"))
        manual.advance(11)
        assert troupe.states() == {"a": "running", "b": "stopped", "c": "running"}

    @pytest.mark.parametrize("strategy", ["rest_for_one", "one_for_all"])
    def test_a_stopped_child_starts_with_its_group_at_a_later_failure(
        self, strategy: Strategy, manual: ManualDispatcher
    ) -> None:
        troupe = Troupe(manual, strategy=strategy)
        troupe.supervisor.ask(StopChild("b"))
        troupe["c"].tell("boom")
        manual.settle()
        assert troupe.states()["b"] == ("running" if strategy == "one_for_all" else "stopped")
        troupe["a"].tell("boom")
        manual.settle()
        assert troupe.states()["b"] == "running"


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
