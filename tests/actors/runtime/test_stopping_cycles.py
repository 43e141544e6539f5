"""Who waits for a stop that takes all time for it is told, also when its turn comes later."""

from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    AskCycle,
    ChildSpec,
    Dispatcher,
    Future,
    GetChild,
    StartChild,
    StopChild,
    Supervisor,
)
from showcaller.actors.runtime.testkit import ManualDispatcher


class Blocks(Actor):
    """Has its supervisor, or another above it, stopped and blocks for that; with a future, awaits that."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        return self.wait(message) if isinstance(message, Future) else message.stop()

    async def wait(self, until: Future[None]) -> None:
        await until


class Awaits(Blocks):
    """The same, and awaits the stop."""

    async def on_receive(self, message: Any) -> Any:
        await (message if isinstance(message, Future) else message.stop(block=False))


class Orders(Blocks):
    """Has itself stopped by its supervisor."""

    def on_receive(self, message: Any) -> Any:
        return self.wait(message) if isinstance(message, Future) else message.ask(StopChild("child"))


def spec(kind: type[Actor], depth: int, shutdown: Any = "infinity") -> ChildSpec:
    """Specify a child, or a supervisor with it, and so on."""
    below = ChildSpec("child", kind, shutdown=shutdown)
    return below if depth == 0 else ChildSpec("child", Supervisor, ([spec(kind, depth - 1, shutdown)],))


def child_of(top: ActorRef[Any], depth: int) -> ActorRef[Any]:
    """Give the child at the bottom."""
    ref: ActorRef[Any] = top.ask(GetChild("child"))
    return ref if depth == 0 else child_of(ref, depth - 1)


DEPTHS = pytest.mark.parametrize("depth", [0, 1, 2])
KINDS = pytest.mark.parametrize("kind", [Blocks, Awaits])


@DEPTHS
@KINDS
def test_a_child_that_waits_for_the_stop_of_those_above_it(
    kind: type[Actor], depth: int, manual: ManualDispatcher
) -> None:
    top = Supervisor.start([spec(kind, depth)])
    child = child_of(top, depth)
    answer = child.request(top)
    manual.settle()
    assert isinstance(answer.error, AskCycle)
    assert not child.is_alive()
    assert not top.is_alive()


@DEPTHS
@KINDS
def test_with_threads(kind: type[Actor], depth: int, threads: Dispatcher) -> None:
    top = Supervisor.start([spec(kind, depth)])
    child = child_of(top, depth)
    with pytest.raises(AskCycle):
        child.ask(top, timeout=30)
    assert top.actor_stopped.wait(30)
    assert not child.is_alive()


@pytest.mark.parametrize("depth", [0, 1])
@KINDS
def test_one_whose_turn_to_stop_comes_later(kind: type[Actor], depth: int, manual: ManualDispatcher) -> None:
    until = Future[None]()
    top = Supervisor.start([spec(kind, depth), ChildSpec("last", Blocks, shutdown="infinity")])
    child = child_of(top, depth)
    top.ask(GetChild("last")).tell(until)
    answer = child.request(top)
    manual.settle()
    assert not answer.done
    until.set(None)
    manual.settle()
    assert isinstance(answer.error, AskCycle)
    assert not top.is_alive()


def test_a_command_whose_turn_comes_later(manual: ManualDispatcher) -> None:
    until = Future[None]()
    kinds = {"child": Orders, "last": Blocks}
    top = Supervisor.start([ChildSpec(name, kind, shutdown="infinity") for name, kind in kinds.items()])
    top.ask(GetChild("last")).tell(until)
    stopped = top.request(StopChild("last"))
    answer = child_of(top, 0).request(top)
    manual.settle()
    assert not answer.done
    until.set(None)
    manual.settle()
    assert stopped.get() is None
    assert isinstance(answer.error, AskCycle)
    assert top.stop() is True


def test_a_supervisor_that_starts_a_child_with_a_shutdown_time_can_be_stopped_by_whom_that_child_asks(
    manual: ManualDispatcher,
) -> None:
    class Asks(Actor):
        registered = False

        async def on_start(self) -> None:  # type: ignore[override]
            await owner.request("config")

    class Owner(Actor):
        registered = False

        def on_receive(self, top: Any) -> Any:
            manual.settle()
            return top.ask(StopChild("child"))

    owner = Owner.start()
    top = Supervisor.start()
    inner: ActorRef[Any] = top.ask(StartChild(ChildSpec("child", Supervisor)))
    inner.tell(StartChild(ChildSpec("asks", Asks, shutdown=2.0)))
    answer = owner.request(top)
    manual.advance(2.1)
    assert answer.get() is None


@pytest.mark.parametrize("depth", [0, 1])
@KINDS
def test_one_that_has_a_shutdown_time_is_ended_by_that(
    kind: type[Actor], depth: int, manual: ManualDispatcher
) -> None:
    top = Supervisor.start([spec(kind, depth, shutdown=2.0)])
    answer = child_of(top, depth).request(top)
    manual.advance(1.9)
    assert not answer.done
    manual.advance(0.2)
    assert isinstance(answer.error, ActorDeadError)
    assert not top.is_alive()
