"""What a dispatcher is made with, checked when it is made."""

from typing import Any

from showcaller.actors.runtime.choices import is_a
from showcaller.actors.runtime.timers import LONGEST


def refuse_nonsense(
    name: object, clock: Any, max_blocked: object, patience: object, slow_after: object, wall_check: object
) -> None:
    """Raise what is wrong now, and not on some thread when it is first needed."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a dispatcher cannot be {name!r}: give text")
    refuse_no_clock(clock)
    if not isinstance(max_blocked, int) or isinstance(max_blocked, bool):
        raise TypeError(f"max_blocked cannot be {max_blocked!r}: give a whole number")
    if max_blocked < 0:
        raise ValueError(f"max_blocked cannot be {max_blocked}: give a whole number from 0")
    _refuse_no_span("patience", patience, above_zero=True)
    _refuse_no_span("slow_after", slow_after, above_zero=False)
    _refuse_no_span("wall_check", wall_check, above_zero=True)


def refuse_no_clock(clock: Any) -> None:
    """Raise ``TypeError`` unless it can be asked for the time."""
    able = callable(getattr(clock, "monotonic", None)) and callable(getattr(clock, "wall", None))
    if is_a(clock, type) or not able:
        raise TypeError(f"a clock cannot be {clock!r}: give an object with the methods monotonic and wall")


def _refuse_no_span(option: str, seconds: Any, *, above_zero: bool) -> None:
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        raise TypeError(f"{option} cannot be {seconds!r}: give a number of seconds")
    if not 0 <= seconds < LONGEST or (above_zero and not seconds):
        least = "above" if above_zero else "from"
        raise ValueError(f"{option} cannot be {seconds!r}: give seconds {least} 0, fewer than {LONGEST:.0e}")
