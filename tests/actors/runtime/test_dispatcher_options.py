"""What a dispatcher cannot be made with is refused when it is made."""

import math
from typing import Any

import pytest

from showcaller.actors.runtime import Dispatcher
from showcaller.actors.runtime.testkit import ManualClock, ManualDispatcher


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("name", None),
        ("clock", None),
        ("clock", ManualClock),
        ("max_blocked", 2.5),
        ("max_blocked", True),
        ("max_blocked", -1),
        *[
            (option, value)
            for option in ("patience", "slow_after", "wall_check")
            for value in ("x", None, True)
        ],
        *[(option, math.nan) for option in ("patience", "slow_after", "wall_check")],
        *[(option, math.inf) for option in ("patience", "slow_after", "wall_check")],
        ("patience", 0),
        ("slow_after", -1),
        ("wall_check", 0),
    ],
)
def test_a_dispatcher_is_not_made_with_nonsense(option: str, value: Any) -> None:
    options: dict[str, Any] = {option: value}
    with pytest.raises((TypeError, ValueError), match=r"cannot be .*: give"):
        Dispatcher(**options)


def test_the_least_of_each_option_will_do() -> None:
    dispatcher = Dispatcher(max_blocked=0, patience=1e-3, slow_after=0, wall_check=1e-3)
    dispatcher.close()


@pytest.mark.parametrize("clock", [5, ManualClock, False])
def test_a_manual_dispatcher_takes_a_manual_clock_alone(clock: Any) -> None:
    with pytest.raises(TypeError, match=r"give a ManualClock\(\)"):
        ManualDispatcher(clock=clock)
