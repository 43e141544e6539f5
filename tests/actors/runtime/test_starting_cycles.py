"""Who waits for a child that starts, while its ``on_start`` waits for them, gets an error."""

from collections.abc import Callable
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorRef,
    AskCycle,
    ChildSpec,
    Dispatcher,
    GetChild,
    RestartChild,
    StartChild,
    StartFailed,
    StopChild,
    Supervisor,
)
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Failing


class Blocks(Actor):
    """Blocks for somebody's answer in its ``on_start``."""

    registered = False

    def __init__(self, other: ActorRef[Any]) -> None:
        super().__init__()
        self.other = other

    def on_start(self) -> Any:
        self.other.ask("config")

    def on_receive(self, message: Any) -> Any:
        return message


class Awaits(Blocks):
    """Awaits it."""

    async def on_start(self) -> None:  # type: ignore[override]
        await self.other.request("config")


class Beside(Awaits):
    """Awaits it and would take other mail meanwhile."""

    reentrant = True


class Nested(Supervisor):
    """A supervisor below another one, with a child that blocks."""

    def __init__(self, other: ActorRef[Any]) -> None:
        super().__init__([ChildSpec("below", Blocks, (other,))])


KINDS: list[type[Actor]] = [Blocks, Awaits, Beside, Nested]
Ask = Callable[[ActorRef[Any], ActorRef[Any]], Any]


class Parent(Actor):
    """Has what it is told done in its handler; answers everybody else."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        return message(self.actor_ref) if callable(message) else message


class AsyncParent(Parent):
    """Awaits it."""

    async def on_receive(self, message: Any) -> Any:
        return await super().on_receive(message) if callable(message) else message


def start(kind: type[Actor], me: ActorRef[Any]) -> ActorRef[Any]:
    """Start a supervisor whose first child asks ``me``."""
    return Supervisor.start([ChildSpec("child", kind, (me,))])


@pytest.mark.parametrize("kind", KINDS)
class TestFirstChildren:
    def test_a_handler_that_blocks_for_the_childs_ref(
        self, kind: type[Actor], manual: ManualDispatcher
    ) -> None:
        with pytest.raises((AskCycle, StartFailed)):
            Parent.start().ask(lambda me: start(kind, me).ask(GetChild("child")))

    def test_a_handler_that_awaits_it(self, kind: type[Actor], manual: ManualDispatcher) -> None:
        answer = AsyncParent.start().request(lambda me: start(kind, me).request(GetChild("child")))
        manual.settle()
        with pytest.raises((AskCycle, StartFailed)):
            answer.get()

    def test_with_threads(self, kind: type[Actor], threads: Dispatcher) -> None:
        with pytest.raises((AskCycle, StartFailed)):
            Parent.start().ask(lambda me: start(kind, me).ask(GetChild("child")), timeout=30)


@pytest.mark.parametrize("kind", [Awaits, Beside])
def test_a_handler_that_asks_when_the_child_waits_for_it_already(
    kind: type[Actor], manual: ManualDispatcher
) -> None:
    def ask(me: ActorRef[Any]) -> Any:
        supervisor = start(kind, me)
        manual.settle()
        return supervisor.ask(GetChild("child"))

    with pytest.raises((AskCycle, StartFailed)):
        Parent.start().ask(ask)


@pytest.mark.parametrize("kind", KINDS)
class TestCommands:
    @pytest.mark.parametrize("parent", [Parent, AsyncParent])
    def test_who_has_a_child_started_that_asks_back(
        self, kind: type[Actor], parent: type[Parent], manual: ManualDispatcher
    ) -> None:
        supervisor = Supervisor.start()
        manual.settle()

        def ask(me: ActorRef[Any]) -> Any:
            command = StartChild(ChildSpec("child", kind, (me,)))
            return supervisor.ask(command, block=parent is Parent)

        answer = parent.start().request(ask)
        manual.settle()
        with pytest.raises((AskCycle, StartFailed)):
            answer.get()

    def test_who_has_it_restarted(self, kind: type[Actor], manual: ManualDispatcher) -> None:
        parent = Parent.start()
        supervisor = start(kind, parent)
        manual.settle()
        supervisor.ask(StopChild("child"))
        with pytest.raises((AskCycle, StartFailed)):
            parent.ask(lambda _: supervisor.ask(RestartChild("child")))


def test_a_child_that_asks_its_supervisor_for_its_sibling_while_it_starts(manual: ManualDispatcher) -> None:
    class Sibling(Failing):
        async def on_start(self) -> None:  # type: ignore[override]
            await supervisor.request(GetChild("first"))

    supervisor = Supervisor.start([ChildSpec("first", Failing), ChildSpec("second", Sibling)])
    manual.settle()
    assert not supervisor.is_alive()


def test_who_has_a_child_stopped_that_takes_all_time_and_waits_for_it(manual: ManualDispatcher) -> None:
    parent = Parent.start()
    spec = ChildSpec("child", AsyncParent, shutdown="infinity")
    supervisor = Supervisor.start([spec])
    child = supervisor.ask(GetChild("child"))

    def ask(_: ActorRef[Any]) -> Any:
        child.tell(lambda _: parent.request("config"))
        manual.settle()
        return supervisor.ask(StopChild("child"))

    with pytest.raises(AskCycle):
        parent.ask(ask)


def test_one_that_has_a_shutdown_time_is_waited_for(manual: ManualDispatcher) -> None:
    parent = Parent.start()
    supervisor = Supervisor.start([ChildSpec("child", AsyncParent, shutdown=2.0)])
    child = supervisor.ask(GetChild("child"))

    def ask(_: ActorRef[Any]) -> Any:
        child.tell(lambda _: parent.request("config"))
        manual.settle()
        return supervisor.ask(StopChild("child"))

    assert parent.ask(ask) is None
    assert manual.clock.monotonic() == 2.0


def test_who_asks_while_an_unrelated_child_starts_gets_the_ref(manual: ManualDispatcher) -> None:
    other = Failing.start()

    def ask(me: ActorRef[Any]) -> Any:
        return start(Awaits, other).ask(GetChild("child"))

    assert Parent.start().ask(ask).ask("hello") == "hello"
