"""Commands to a supervisor: children that are added, removed, stopped and restarted by hand."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self, cast

import pytest

from showcaller.actors.runtime import (
    ActorDeadError,
    ActorRef,
    Backoff,
    ChildSpec,
    Future,
    GetChild,
    ListChildren,
    RemoveChild,
    RestartChild,
    StartChild,
    StartFailed,
    StopChild,
    Supervisor,
)
from showcaller.actors.runtime.strategy import Strategy
from showcaller.actors.runtime.testkit import ManualDispatcher, probe
from tests.actors.runtime.stage import Boom, Failing, Player, Troupe, Unwilling, Waiter, stubborn


class Slow(Waiter):
    """Waits for ever in ``on_start``."""

    async def on_start(self) -> None:  # type: ignore[override]
        await self.until


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

    @pytest.mark.parametrize(
        "command", [StopChild("x"), RestartChild("x"), RemoveChild("x"), RestartChild("a")], ids=repr
    )
    def test_a_told_command_that_cannot_be_done_is_logged_and_fails_nobody(
        self, command: Any, manual: ManualDispatcher, caplog: pytest.LogCaptureFixture
    ) -> None:
        troupe = Troupe(manual)
        troupe.supervisor.tell(command)
        manual.settle()
        assert troupe.states() == {"a": "running", "b": "running", "c": "running"}
        assert "in vain" in caplog.text

    def test_a_child_that_is_removed_before_its_restart_has_its_turn_is_refused(
        self, manual: ManualDispatcher
    ) -> None:
        troupe = Troupe(manual)
        troupe.supervisor.ask(StopChild("b"))
        commands = [StopChild("a"), RemoveChild("b"), RestartChild("b")]
        *_, restarted = [troupe.supervisor.ask(command, block=False) for command in commands]
        manual.settle()
        with pytest.raises(LookupError, match="removed meanwhile"):
            restarted.get()

    def test_an_asker_that_completes_its_future_itself_harms_nobody(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        asks = [
            troupe.supervisor.ask(command, block=False)
            for command in (StopChild("a"), StartChild(troupe.spec("d")), GetChild("b"), StopChild("x"))
        ]
        for ask in asks:
            ask.set("never mind")
        manual.settle()
        assert troupe.states() == {"a": "stopped", "b": "running", "c": "running", "d": "running"}
        assert manual.late_replies == 4

    def test_a_child_is_removed_though_one_that_waited_with_it_does_not_start(
        self, manual: ManualDispatcher
    ) -> None:
        troupe = Troupe(manual, strategy="one_for_all", backoff=Backoff(60.0))
        troupe["b"].tell("boom")
        manual.settle()
        troupe.unwilling.add("a")
        removed = troupe.supervisor.ask(RemoveChild("b"), block=False)
        manual.settle()
        assert removed.get() is None
        assert "b" not in troupe.states()

    @pytest.mark.parametrize("command", [StopChild, RestartChild, RemoveChild, GetChild])
    @pytest.mark.parametrize("name", [["a"], None, 5])
    def test_a_name_that_is_no_text_is_refused_when_the_message_is_made(
        self, command: type[Any], name: Any
    ) -> None:
        with pytest.raises(TypeError, match="the name of a child cannot be"):
            command(name)

    def test_what_is_done_is_forgotten(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        actor = cast("Supervisor", troupe.supervisor._actor)
        for _ in range(20):
            troupe.supervisor.ask(StartChild(troupe.spec("d")))
            troupe.supervisor.ask(RemoveChild("d"))
            troupe.supervisor.ask(StopChild("a"))
            troupe.supervisor.ask(RestartChild("a"))
        assert (len(actor._jobs), len(actor._jobs._stopping)) == (0, 0)


class Abstract(Failing, ABC):
    """Cannot be made."""

    @abstractmethod
    def missing(self) -> None:
        raise NotImplementedError


class Scarce(Failing):
    """Is not allocated when its time has come."""

    left: ClassVar[int] = 0

    def __new__(cls, *_: Any, **__: Any) -> Self:
        cls.left -= 1
        if cls.left == 0:
            raise Boom("none is left")
        return super().__new__(cls)

    def on_failure(self, *_: Any) -> None:
        self.log.append("fails")

    def __init__(self, log: list[str]) -> None:
        super().__init__()
        self.log = log


class TestClassesThatAllocateNothing:
    """``Abstract`` and ``Scarce`` raise before there is anything that could fail by itself."""

    def test_one_that_is_added_is_refused_and_harms_nobody(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        added = troupe.supervisor.ask(StartChild(ChildSpec("none", Abstract)), block=False)
        with pytest.raises(StartFailed, match="abstract"):
            added.get()
        assert troupe.states() == dict.fromkeys("abc", "running")

    def test_one_of_the_first_stops_those_before_it(self, manual: ManualDispatcher) -> None:
        log: list[str] = []
        watcher, heard = probe()
        specs = [ChildSpec("a", Player, ("a", log, set())), ChildSpec("none", Abstract)]
        supervisor = Supervisor.start(specs)
        supervisor.add_watcher(watcher)
        manual.settle()
        assert log == ["a starts", "a stops"]
        assert isinstance(heard[0].reason.error, StartFailed)

    def test_one_that_is_to_live_again_has_failed_to_start(self, manual: ManualDispatcher) -> None:
        Scarce.left, log = 3, list[str]()  # the ref, the first life, and the second
        supervisor = Supervisor.start([ChildSpec("scarce", Scarce, (log,))])
        child: ActorRef[Any] = supervisor.ask(GetChild("scarce"))
        child.tell("boom")
        assert child.ask("hello") == "hello"
        assert log == ["fails"], "the life that had ended hears of it no more"
        assert supervisor.ask(ListChildren())[0].restarts == 2

    @pytest.mark.parametrize("strategy", ["one_for_all", "rest_for_one"])
    def test_one_that_is_to_start_with_others_holds_none_of_them_up(
        self, strategy: Strategy, manual: ManualDispatcher
    ) -> None:
        Scarce.left = 0
        scarce = ChildSpec("scarce", Scarce, ([],), restart="transient")
        supervisor = Supervisor.start(
            [ChildSpec("a", Failing), scarce, ChildSpec("c", Failing)], strategy=strategy
        )
        supervisor.ask(GetChild("scarce")).stop()
        Scarce.left = 1
        supervisor.ask(GetChild("a")).tell("boom")
        manual.settle()
        states = {info.name: info.state for info in supervisor.ask(ListChildren())}
        assert states == {"a": "running", "scarce": "stopped", "c": "running"}


class TestWhatAnEndingSupervisorOwes:
    def test_a_stop_is_answered_once_though_it_is_restarted_and_given_up(
        self, manual: ManualDispatcher
    ) -> None:
        below = ChildSpec("below", Waiter, shutdown="infinity")
        top = Supervisor.start([ChildSpec("lower", Supervisor, ([below],), backoff=Backoff(60.0))])
        lower: ActorRef[Any] = top.ask(GetChild("lower"))
        lower.ask(GetChild("below")).tell("wait")
        stopped = lower.stop(block=False)
        manual.settle()
        lower.kill()
        assert stopped.get() is True
        assert top.stop() is True
        assert manual.late_replies == 0

    @pytest.mark.parametrize("end", ["kill", "stop"])
    def test_get_child_is_answered_when_it_ends_before_all_have_started(
        self, end: str, manual: ManualDispatcher
    ) -> None:
        supervisor = Supervisor.start([ChildSpec("slow", Slow, shutdown=1.0)])
        asked = supervisor.ask(GetChild("slow"), block=False)
        manual.settle()
        if end == "kill":
            supervisor.kill()
        else:
            supervisor.stop(block=False)
        manual.advance(2)
        assert not supervisor.is_alive()
        with pytest.raises(ActorDeadError, match="before it answered"):
            asked.get()

    @pytest.mark.parametrize("command", [StartChild(ChildSpec("new", Slow)), StopChild("stubborn")], ids=repr)
    def test_a_command_under_way_is_answered_when_it_is_killed(
        self, command: Any, manual: ManualDispatcher
    ) -> None:
        supervisor, _ = stubborn(shutdown="infinity")
        asked = supervisor.ask(command, block=False)
        waiting = supervisor.ask(RemoveChild("stubborn"), block=False)
        manual.settle()
        assert not asked.done
        supervisor.kill()
        manual.settle()
        with pytest.raises((ActorDeadError, StartFailed), match=r"ended before|killed"):
            asked.get()
        with pytest.raises(ActorDeadError, match="ended before"):
            waiting.get()

    def test_a_restart_under_way_is_answered_when_it_is_killed(self, manual: ManualDispatcher) -> None:
        until = Future[None]()
        until.set(None)
        starts = [until, Future[None]()]

        class Second(Failing):
            async def on_start(self) -> None:  # type: ignore[override]
                await starts.pop(0)

        supervisor = Supervisor.start([ChildSpec("second", Second)])
        supervisor.ask(StopChild("second"))
        asked = supervisor.ask(RestartChild("second"), block=False)
        manual.settle()
        supervisor.kill()
        manual.settle()
        with pytest.raises(StartFailed, match="killed"):
            asked.get()

    def test_a_killed_supervisor_that_lives_again_has_answered_and_forgets_its_back_offs(
        self, manual: ManualDispatcher
    ) -> None:
        backoff = Backoff(60.0)
        lower = ChildSpec(
            "lower",
            Supervisor,
            ([ChildSpec("a", Failing, backoff=backoff), ChildSpec("b", Waiter, shutdown="infinity")],),
        )
        top = Supervisor.start([lower])
        supervisor: ActorRef[Any] = top.ask(GetChild("lower"))
        supervisor.ask(GetChild("b")).tell("wait")
        supervisor.ask(GetChild("a")).tell("boom")
        manual.settle()
        asked = supervisor.ask(StopChild("b"), block=False)
        manual.settle()
        supervisor.kill()
        manual.settle()
        with pytest.raises(ActorDeadError, match="ended before"):
            asked.get()
        supervisor.ask(StopChild("a"))
        manual.advance(120)
        assert {info.name: info.state for info in supervisor.ask(ListChildren())} == {
            "a": "stopped",
            "b": "running",
        }
