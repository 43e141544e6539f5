"""Moments of the wall clock as programs give them."""

from datetime import datetime

from showcaller.actors.runtime.choices import is_a

LATEST = 10**14  # milliseconds since the epoch: what is later is a mistake
NEAR_EPOCH = (
    10**11
)  # milliseconds: until 1973; what is earlier was meant in seconds, unless the clock is so early


def seconds_of(wall: int | datetime, now: int) -> float:
    """Give a moment as seconds since the epoch; ``now`` is what the clock shows (milliseconds).

    Raises ``TypeError`` or ``ValueError`` for what cannot be meant, such as seconds, or a ``datetime``
    without its zone.
    """
    if isinstance(wall, datetime):
        if wall.tzinfo is None:
            raise ValueError(f"{wall!r} can mean any hour: give it a time zone, as datetime.now(tz=UTC) has")
        return wall.timestamp()
    if not is_a(wall, int, float):
        raise TypeError(f"a moment is a datetime or milliseconds since the epoch, not {wall!r}")
    if not abs(wall) < LATEST:
        raise ValueError(f"a wall clock shows fewer than {LATEST:.0e} ms since the epoch, not {wall!r}")
    if wall < NEAR_EPOCH <= now:
        raise ValueError(
            f"{wall!r} ms since the epoch is long ago: give milliseconds (not seconds), or a datetime"
        )
    return wall / 1000
