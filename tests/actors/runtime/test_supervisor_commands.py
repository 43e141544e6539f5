"""Commands to a supervisor: children that are added, removed, stopped and restarted by hand."""

from typing import Any

import pytest

from showcaller.actors.runtime import (
    ActorDeadError,
    ActorRef,
    ChildSpec,
    RemoveChild,
    RestartChild,
    StartChild,
    StartFailed,
    StopChild,
)
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Boom, Failing, Troupe, Unwilling, stubborn


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
