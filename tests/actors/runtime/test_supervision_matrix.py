"""Every restart type × every kind of exit × every strategy, named as in OTP's supervisor suite."""

from collections.abc import Callable
from typing import Literal

import pytest

from showcaller.actors.runtime.lineage import Restart
from showcaller.actors.runtime.strategy import Strategy
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Troupe

Ending = Literal["normal", "failure", "kill", "on_start_failure"]


def fail(troupe: Troupe) -> None:
    """Let b fail."""
    troupe["b"].tell("boom")


def kill(troupe: Troupe) -> None:
    """Kill b."""
    troupe["b"].kill()


def fail_and_refuse_to_start(troupe: Troupe) -> None:
    """Let b fail, and let its next life not start either, once."""
    troupe.unwilling.add("b")
    troupe["b"].tell("boom")


STRATEGIES: list[Strategy] = ["one_for_one", "one_for_all", "rest_for_one"]
RESTARTS: list[Restart] = ["permanent", "transient", "temporary"]
ENDINGS: dict[Ending, Callable[[Troupe], object]] = {
    "normal": lambda troupe: troupe["b"].stop(block=False),
    "failure": fail,
    "kill": kill,
    "on_start_failure": fail_and_refuse_to_start,
}
LAST_WORDS: dict[Ending, list[str]] = {
    "normal": ["b stops"],
    "failure": ["b fails"],
    "kill": [],
    "on_start_failure": ["b fails"],
}
# Who is stopped and started with b, without b itself.
STOPPED: dict[Strategy, list[str]] = {"one_for_one": [], "one_for_all": ["c", "a"], "rest_for_one": ["c"]}
STARTED: dict[Strategy, list[str]] = {
    "one_for_one": ["b"],
    "one_for_all": ["a", "b", "c"],
    "rest_for_one": ["b", "c"],
}


def lives_again(restart: Restart, ending: Ending) -> bool:
    """Say it as the documentation does."""
    return restart == "permanent" or (restart == "transient" and ending != "normal")


def expected(strategy: Strategy, ending: Ending) -> list[str]:
    """Spell out the log of an end after which b lives again."""
    stops = [f"{name} stops" for name in STOPPED[strategy]]
    starts = [f"{name} starts" for name in STARTED[strategy]]
    if ending != "on_start_failure":
        return [*LAST_WORDS[ending], *stops, *starts]
    before = [f"{name} starts" for name in STARTED[strategy] if name < "b"]
    again = [f"{name} stops" for name in STOPPED[strategy] if name < "b"]
    return [*LAST_WORDS[ending], *stops, *before, "b does not start", *again, *starts]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("restart", RESTARTS)
@pytest.mark.parametrize("ending", list(ENDINGS))
def test_child(strategy: Strategy, restart: Restart, ending: Ending, manual: ManualDispatcher) -> None:
    troupe = Troupe(manual, strategy=strategy, restarts=["permanent", restart, "permanent"])
    assert troupe.news() == ["a starts", "b starts", "c starts"]
    ENDINGS[ending](troupe)
    log = until_willing(troupe)
    if lives_again(restart, ending):
        assert log == expected(strategy, ending)
        assert troupe.states() == {"a": "running", "b": "running", "c": "running"}
        assert troupe["b"].ask("hello") == "hello", "the ref is the same"
    else:
        assert log == LAST_WORDS[ending]
        known = {"a": "running", "b": "stopped", "c": "running"}
        assert troupe.states() == (known if restart == "transient" else {"a": "running", "c": "running"})
        assert not troupe["b"].is_alive()
    assert troupe["a"].is_alive()
    assert troupe["c"].is_alive()
    assert troupe.supervisor.stop()


def until_willing(troupe: Troupe) -> list[str]:
    """Let b refuse to start once, and give the whole log."""
    steps = 0
    while troupe.dispatcher.step():
        steps += 1
        if "b does not start" in troupe.log:
            troupe.unwilling.clear()
    assert steps > 0
    return troupe.news()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("restart", RESTARTS)
def test_first_start_failure_fails_the_supervisor(
    strategy: Strategy, restart: Restart, manual: ManualDispatcher
) -> None:
    troupe = Troupe(manual, strategy=strategy, restart=restart, unwilling=["b"])
    assert troupe.log == ["a starts", "b does not start", "a stops"]
    assert not troupe.supervisor.is_alive()
    assert manual.suspended == {}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("restart", ["permanent", "transient"])
@pytest.mark.parametrize("ending", ["failure", "kill", "on_start_failure"])
def test_escalation_when_it_happens_too_often(
    strategy: Strategy, restart: Restart, ending: Ending, manual: ManualDispatcher
) -> None:
    troupe = Troupe(manual, strategy=strategy, restart=restart)
    for _ in range(3):
        assert troupe.supervisor.is_alive()
        ENDINGS["kill" if ending == "kill" else "failure"](troupe)
        manual.settle()
    assert troupe.restarted()["b"] == 3
    assert troupe.supervisor.is_alive()
    ENDINGS[ending](troupe)
    manual.settle()
    assert not troupe.supervisor.is_alive()
    assert not any(troupe[name].is_alive() for name in "abc")


@pytest.mark.parametrize("strategy", ["one_for_all", "rest_for_one"])
def test_temporary_sibling_is_stopped_and_forgotten(strategy: Strategy, manual: ManualDispatcher) -> None:
    troupe = Troupe(manual, strategy=strategy, restarts=["permanent", "permanent", "temporary"])
    troupe["b"].tell("boom")
    manual.settle()
    assert troupe.states() == {"a": "running", "b": "running"}
    assert not troupe["c"].is_alive()


@pytest.mark.parametrize("strategy", ["one_for_all", "rest_for_one"])
def test_transient_sibling_that_had_ended_starts_anew(strategy: Strategy, manual: ManualDispatcher) -> None:
    troupe = Troupe(manual, strategy=strategy, restarts=["permanent", "permanent", "transient"])
    troupe["c"].stop()
    manual.settle()
    assert troupe.states()["c"] == "stopped"
    troupe["b"].tell("boom")
    manual.settle()
    assert troupe.states()["c"] == "running"
    assert troupe.get("c") is not troupe["c"], "an ended ref does not come back"
