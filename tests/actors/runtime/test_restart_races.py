"""Children that fail while their supervisor is at work: neither restarted twice nor revived."""

from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ChildSpec,
    Future,
    RemoveChild,
    RestartIntensity,
    StartChild,
    StopChild,
)
from showcaller.actors.runtime.strategy import Strategy
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Troupe


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
