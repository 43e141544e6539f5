"""The data of supervision, and its pure decisions."""

import sys
from collections import deque
from typing import Any

import pykka
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.runtime import Actor, Backoff, ChildSpec, RestartIntensity, StartChild, Supervisor
from showcaller.actors.runtime.restart_intensity import History
from showcaller.actors.runtime.strategy import affected
from showcaller.actors.runtime.testkit import ManualDispatcher, Probe


class TestChildSpec:
    @pytest.mark.parametrize("wrong", [{"restart": "sometimes"}, {"shutdown": -1}, {"shutdown": "later"}])
    def test_what_cannot_be_meant_is_refused_with_the_name_of_the_child(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="child 'odd' cannot be"):
            ChildSpec("odd", Actor, **wrong)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"name": 5},
            {"actor_class": Actor.start},
            {"actor_class": pykka.ThreadingActor},
            {"actor_class": "Actor"},
            {"args": 5},
            {"args": "ab"},
            {"kwargs": ("a", 1)},
            {"backoff": 0.5},
        ],
    )
    def test_a_part_of_the_wrong_kind_is_refused_with_the_way_out(self, wrong: dict[str, Any]) -> None:
        (part,) = wrong
        good: dict[str, Any] = {"name": "odd", "actor_class": Actor}
        with pytest.raises(TypeError, match=rf"^{part} of child .* cannot be .*: give "):
            ChildSpec(**good | wrong)

    @pytest.mark.parametrize("shutdown", [float("inf"), float("nan"), 1e12, [5]])
    def test_a_shutdown_time_that_no_timer_can_hold_is_refused(self, shutdown: Any) -> None:
        with pytest.raises(ValueError, match="choose 'kill', 'infinity' or a number of seconds"):
            ChildSpec("odd", Actor, shutdown=shutdown)

    @pytest.mark.parametrize("shutdown", [None, 0, 2.5, "kill", "infinity"])
    def test_what_is_documented_is_taken(self, shutdown: Any) -> None:
        assert ChildSpec("fine", Actor, shutdown=shutdown).shutdown == shutdown


class TestBackoff:
    @given(
        first=st.floats(0.001, 10),
        factor=st.floats(1, 10),
        longest=st.floats(10, 1e6),
        streak=st.integers(1, 10_000),
    )
    def test_it_never_shrinks_and_never_exceeds_the_longest(
        self, first: float, factor: float, longest: float, streak: int
    ) -> None:
        backoff = Backoff(first, factor, longest)
        assert first <= backoff.delay(streak) <= backoff.delay(streak + 1) <= longest

    def test_it_grows_by_its_factor(self) -> None:
        assert [Backoff(1, 2, 10).delay(streak) for streak in range(1, 7)] == [1, 2, 4, 8, 10, 10]

    def test_one_that_no_timer_can_hold_is_refused(self) -> None:
        with pytest.raises(ValueError, match="less than 1e"):
            Backoff(first=1, longest=float("inf"))

    def test_one_that_is_no_number_is_refused(self) -> None:
        with pytest.raises(TypeError, match="made of numbers"):
            Backoff(first="1")  # type: ignore[arg-type]

    @pytest.mark.parametrize("wrong", [{"first": -1}, {"factor": 0.5}, {"longest": 0}, {"calm": -1}])
    def test_one_that_shrinks_is_refused(self, wrong: dict[str, float]) -> None:
        with pytest.raises(ValueError, match="a back-off grows"):
            Backoff(**wrong)


class TestRestartIntensity:
    @given(
        restarts=st.integers(0, 5),
        seconds=st.floats(0.1, 100),
        gaps=st.lists(st.floats(0, 50), max_size=30),
    )
    def test_it_allows_what_a_slow_count_allows(
        self, restarts: int, seconds: float, gaps: list[float]
    ) -> None:
        intensity = RestartIntensity(restarts, seconds)
        history: History = deque()
        times: list[float] = []
        for gap in gaps:
            times.append((times[-1] if times else 0.0) + gap)
            allowed = intensity.note(history, times[-1])
            assert allowed == (sum(time > times[-1] - seconds for time in times) <= restarts)
            assert len(history) <= len(times)

    def test_a_restart_costs_no_more_for_those_before_it(self) -> None:
        intensity = RestartIntensity(10**6, 1000)
        history: History = deque(float(time) for time in range(900))
        noted: list[str] = []
        sys.setprofile(lambda frame, event, argument: noted.append(event))
        try:
            intensity.note(history, 950.0)
        finally:
            sys.setprofile(None)
        assert len(noted) < 10
        assert len(history) == 901

    def test_a_failure_of_one_for_one_looks_at_no_other_child(self) -> None:
        names = iter(["a", "b"])
        assert affected("one_for_one", names, "a") == ["a"]
        assert list(names) == ["a", "b"]

    @pytest.mark.parametrize(("restarts", "seconds"), [(-1, 1), (1, 0), (1, float("nan"))])
    def test_one_without_sense_is_refused(self, restarts: int, seconds: float) -> None:
        with pytest.raises(ValueError, match="an intensity needs"):
            RestartIntensity(restarts, seconds)

    @pytest.mark.parametrize(("restarts", "seconds"), [("3", 5), (2.5, 5), (3, "5")])
    def test_one_that_is_not_two_numbers_is_refused(self, restarts: Any, seconds: Any) -> None:
        with pytest.raises(TypeError, match="made of two numbers"):
            RestartIntensity(restarts, seconds)


class TestSupervisor:
    """A mistake is told to who starts the supervisor, not at the first failure of a child."""

    def test_a_strategy_with_a_typo_is_refused(self, manual: ManualDispatcher) -> None:
        with pytest.raises(ValueError, match="'one-for-all': choose 'one_for_one', 'one_for_all' or 'rest"):
            Supervisor.start(strategy="one-for-all")

    def test_an_intensity_that_is_a_number_is_refused(self, manual: ManualDispatcher) -> None:
        with pytest.raises(TypeError, match=r"intensity of Supervisor cannot be 3: give a RestartIntensity"):
            Supervisor.start(intensity=3)

    def test_a_child_that_is_no_specification_is_refused(self, manual: ManualDispatcher) -> None:
        with pytest.raises(TypeError, match=r"a child of Supervisor cannot be .*: give a ChildSpec"):
            Supervisor.start([Probe])
        with pytest.raises(TypeError, match="a child to start cannot be"):
            StartChild(Probe)  # type: ignore[arg-type]


def test_strategies_choose_who_shares_the_fate() -> None:
    order = ["a", "b", "c"]
    assert affected("one_for_one", order, "b") == ["b"]
    assert affected("one_for_all", order, "b") == ["a", "b", "c"]
    assert affected("rest_for_one", order, "b") == ["b", "c"]
