"""Quiet hours: when a daily window of a zone's clock is open, through every change of that clock. Pure.

Times are milliseconds since the epoch (UTC). A window opens when the clock first reaches ``from``, and closes
when it next reaches ``to`` for the first time; a clock that is put forward reaches all that it leaves out at
the jump. So an end that comes twice ends the window the first time, the repeated hour opens it no second
time, and a begin in the repeated hour lets it stay open through the second pass.

All counting is in dates and in UTC: adding hours to a time of a zone would move its hands, not the time.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from showcaller.actors.contract.arguments import QuietHours
from showcaller.actors.contract.iso_times import milliseconds_at, moment_of
from showcaller.actors.contract.zones import find_zone, local_time

_DAY: Final = timedelta(days=1)
# A clock leaves out a day at most (the date line), so a window that may be open began within these.
_DAYS_BEFORE: Final = 3
# And there is a day whose window is not left out within these.
_DAYS_AFTER: Final = 4


class Opening(NamedTuple):
    """A time for which a window is open, from its first millisecond up to ``ends``, when it is closed."""

    begins: int
    ends: int


def is_quiet(window: QuietHours, at: int) -> bool:
    """Tell whether a window is open at that instant."""
    return quiet_until(window, at) is not None


def quiet_until(window: QuietHours, at: int) -> int | None:
    """Give the instant at which a window that is open then closes; None when it is not open."""
    for opening in _openings(window, at):
        if opening.begins <= at < opening.ends:
            return opening.ends
    return None


def next_quiet(window: QuietHours, at: int) -> int | None:
    """Give the first instant after that one at which a window opens.

    None for a window whose zone this machine does not know any more: it is never open, for what waited for
    its end would wait for ever.
    """
    return next((opening.begins for opening in _openings(window, at) if opening.begins > at), None)


def _openings(window: QuietHours, at: int) -> Iterator[Opening]:
    """Give the openings about an instant in order; those that touch each other are one."""
    zone = find_zone(window.tz)
    if zone is None:
        return
    today = local_time(moment_of(at), zone).date()
    found: Opening | None = None
    for days in range(-_DAYS_BEFORE, _DAYS_AFTER + 1):
        opening = _opening(window.start, window.end, window.tz, today + days * _DAY)
        if opening.begins >= opening.ends:  # the clock leaves it out
            continue
        if found is not None and opening.begins > found.ends:
            yield found
            found = None
        found = opening if found is None else Opening(found.begins, opening.ends)
    if found is not None:
        yield found


@lru_cache(maxsize=4096)
def _opening(begin: str, close: str, tz: str, day: date) -> Opening:
    """Give the opening that begins on a day, as long as nothing where the clock leaves out all of it."""
    zone = find_zone(tz)
    start, end = time.fromisoformat(begin), time.fromisoformat(close)
    last = day if start < end else day + _DAY
    return Opening(
        milliseconds_at(datetime.combine(day, start), zone),
        milliseconds_at(datetime.combine(last, end), zone),
    )
