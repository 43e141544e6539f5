"""Children that fail while their supervisor is at work: neither restarted twice nor revived."""

from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorRef,
    Backoff,
    ChildSpec,
    Future,
    GetChild,
    ListChildren,
    RemoveChild,
    RestartChild,
    RestartIntensity,
    StartChild,
    StopChild,
    Supervisor,
)
from showcaller.actors.runtime.strategy import Strategy
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Boom, Failing, Troupe


class Slow(Actor):
    """Starts when a gate opens."""

    registered = False

    def __init__(self, gate: Future[None]) -> None:
        super().__init__()
        self.gate = gate

    async def on_start(self) -> None:  # type: ignore[override]
        await self.gate

    def on_receive(self, message: Any) -> Any:
        return message


@pytest.mark.parametrize("strategy", ["one_for_all", "rest_for_one"])
def test_who_fails_while_it_is_to_be_restarted_with_another_is_restarted_once(
    strategy: Strategy, manual: ManualDispatcher
) -> None:
    troupe = Troupe(manual, strategy=strategy, intensity=RestartIntensity(1, 5.0))
    for name in "abc":
        troupe[name].tell("boom")
    manual.settle()
    assert troupe.supervisor.is_alive()
    assert troupe.restarted() == dict.fromkeys("abc", 1)
    assert set(troupe.states().values()) == {"running"}


@pytest.mark.parametrize("command", [StopChild, RemoveChild])
def test_who_fails_before_its_stop_comes_up_is_not_revived_after_it(
    command: type[Any], manual: ManualDispatcher
) -> None:
    troupe = Troupe(manual)
    gate = Future[None]()
    started = troupe.supervisor.request(StartChild(ChildSpec("slow", Slow, (gate,))))
    stopped = troupe.supervisor.request(command("b"))
    manual.settle()
    assert not stopped.done
    troupe["b"].tell("boom")
    manual.settle()
    gate.set(None)
    manual.settle()
    assert stopped.get() is None
    assert started.get().is_alive()
    assert troupe.states().get("b", "stopped") == "stopped"
    assert not troupe["b"].is_alive()


class Gated(Failing):
    """Starts for the second time when a gate opens, and at once every other time."""

    def __init__(self, gate: Future[None], lives: list[int]) -> None:
        super().__init__()
        self.gate = gate
        lives.append(len(lives))
        self.waits = len(lives) == 2

    async def on_start(self) -> None:  # type: ignore[override]
        if self.waits:
            await self.gate


class Open(Gated):
    """The same, and takes mail meanwhile."""

    reentrant = True


class Trio:
    """A supervisor with a, b and c, of which b is just starting again, when its gate opens."""

    def __init__(
        self,
        manual: ManualDispatcher,
        strategy: Strategy,
        *,
        kind: type[Gated] = Gated,
        fails: str = "b",
        **spec: Any,
    ) -> None:
        self.manual = manual
        self.gate = Future[None]()
        gated = ChildSpec("b", kind, (self.gate, []), **spec)
        self.supervisor: ActorRef[Any] = Supervisor.start(
            [ChildSpec("a", Failing), gated, ChildSpec("c", Failing)],
            strategy=strategy,
            intensity=RestartIntensity(5, 5.0),
        )
        self.b: ActorRef[Any] = self.supervisor.ask(GetChild("b"))
        self.fail(fails)
        manual.advance(2)
        assert self.states()["b"] == "starting"

    def fail(self, name: str) -> None:
        """Let a child fail."""
        self.supervisor.ask(GetChild(name)).tell("boom")
        self.manual.settle()

    def states(self) -> dict[str, str]:
        """Give the state of every child."""
        return {info.name: info.state for info in self.supervisor.ask(ListChildren())}


@pytest.mark.parametrize("backoff", [None, Backoff(1.0)])
@pytest.mark.parametrize("strategy", ["one_for_one", "one_for_all", "rest_for_one"])
def test_who_is_to_be_stopped_is_not_started_again_when_its_restart_fails(
    strategy: Strategy, backoff: Backoff | None, manual: ManualDispatcher
) -> None:
    trio = Trio(manual, strategy, backoff=backoff)
    stopped = trio.supervisor.request(StopChild("b"))
    manual.settle()
    assert not stopped.done
    trio.gate.set_exception(Boom())
    manual.advance(100)
    assert stopped.get() is None
    assert trio.states() == {"a": "running", "b": "stopped", "c": "running"}


def test_who_waits_with_a_removed_child_and_does_not_start_is_not_revived_after_its_own_stop(
    manual: ManualDispatcher,
) -> None:
    trio = Trio(manual, "one_for_all", fails="a")
    trio.gate.set(None)
    manual.settle()
    supervisor, gate = trio.supervisor, Future[None]()
    supervisor.ask(StartChild(ChildSpec("d", Failing, backoff=Backoff(60.0))))
    supervisor.ask(StartChild(ChildSpec("e", Gated, (gate, []))))
    trio.fail("d")
    removed, stopped = supervisor.request(RemoveChild("d")), supervisor.request(StopChild("e"))
    manual.settle()
    assert not removed.done, "who waited with d is started first"
    gate.set_exception(Boom())
    manual.settle()
    assert (removed.get(), stopped.get()) == (None, None)
    assert trio.states() == {"a": "running", "b": "running", "c": "running", "e": "stopped"}


def test_a_restart_that_fails_while_another_restart_of_the_group_is_due_leaves_nobody_waiting(
    manual: ManualDispatcher,
) -> None:
    trio = Trio(manual, "one_for_all", backoff=Backoff(1.0))
    trio.fail("a")
    trio.gate.set_exception(Boom())
    manual.advance(100)
    assert trio.states() == dict.fromkeys("abc", "running")


def test_a_back_off_that_is_cut_short_before_the_others_have_stopped_leaves_nobody_waiting(
    manual: ManualDispatcher,
) -> None:
    gates = {"one": Future[None](), "two": Future[None]()}
    slow = {name: StartChild(ChildSpec(name, Slow, (gate,))) for name, gate in gates.items()}
    down = ChildSpec("down", Failing, backoff=Backoff(60.0))
    supervisor = Supervisor.start([ChildSpec("a", Failing), down], strategy="one_for_all")
    manual.settle()
    supervisor.ask(StopChild("down"))
    restart = RestartChild("down")
    answers = [supervisor.request(command) for command in (slow["one"], restart, slow["two"], restart)]
    manual.settle()
    gates["one"].set(None)
    manual.settle()
    answers[1].get().tell("boom")
    manual.settle()
    gates["two"].set(None)
    manual.advance(100)
    assert answers[3].get() is answers[1].get()
    states = {info.name: info.state for info in supervisor.ask(ListChildren())}
    assert states == dict.fromkeys(["a", "down", "one", "two"], "running")


def test_who_ends_well_while_it_is_restarted_with_others_holds_none_of_them_up(
    manual: ManualDispatcher,
) -> None:
    trio = Trio(manual, "one_for_all", kind=Open, fails="a", restart="transient")
    assert trio.b.stop() is True
    manual.settle()
    assert trio.states() == {"a": "running", "b": "stopped", "c": "running"}


def test_removing_a_child_that_has_ended_does_not_touch_another_of_its_name(manual: ManualDispatcher) -> None:
    supervisor = Supervisor.start([ChildSpec("job", Failing, restart="temporary")])
    job: ActorRef[Any] = supervisor.ask(GetChild("job"))
    gate = Future[None]()
    supervisor.ask(StartChild(ChildSpec("slow", Slow, (gate,))), block=False)
    removed = supervisor.request(RemoveChild("job"))
    manual.settle()
    job.tell("boom")
    manual.settle()
    started = supervisor.request(StartChild(ChildSpec("job", Failing, restart="temporary")))
    gate.set(None)
    manual.settle()
    assert removed.get() is None
    assert started.get().ask("hello") == "hello"
    assert [info.name for info in supervisor.ask(ListChildren())] == ["slow", "job"]
    assert supervisor.stop() is True
    assert not started.get().is_alive()


@pytest.mark.parametrize("shutdown", [0, 3.0])
def test_who_has_stopped_when_its_time_is_over_keeps_its_ref_and_its_mail(
    shutdown: float, manual: ManualDispatcher, caplog: pytest.LogCaptureFixture
) -> None:
    specs = [ChildSpec("a", Failing), ChildSpec("b", Failing, shutdown=shutdown)]
    supervisor = Supervisor.start(specs, strategy="one_for_all")
    a, b = (supervisor.ask(GetChild(name)) for name in "ab")
    a.tell("boom")
    manual.step()
    manual.step()  # a has failed, and b is ordered to stop
    answer = b.request("hello")
    manual.manual_clock.move_to(manual.clock.monotonic() + shutdown)
    manual.timers.fire_due()  # the supervisor has to hear of that before it hears of the end of b
    manual.settle()
    assert answer.get() == "hello"
    assert supervisor.ask(GetChild("b")) is b
    assert "goes on without it" not in caplog.text
