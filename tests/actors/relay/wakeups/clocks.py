"""The clocks of the zones as another library knows them, and quiet hours worked out minute by minute."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

MINUTE = 60_000
DAY = 1440
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STEP = timedelta(days=5)


class Transition(NamedTuple):
    """A clock of a zone is put from ``before`` to ``after`` at an instant, in milliseconds (UTC)."""

    zone: str
    at: int
    before: datetime
    after: datetime


def milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def clock(zone: str, at: int) -> datetime:
    """Read a zone's clock, which shows no offset."""
    return (_EPOCH + timedelta(milliseconds=at)).astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)


@cache
def transitions(zone: str, first: int = 2020, last: int = 2030) -> tuple[Transition, ...]:
    """Find when a zone's clock was put, from the first day of a year to the last of another."""
    found: list[Transition] = []
    moment, end = datetime(first, 1, 1, tzinfo=UTC), datetime(last + 1, 1, 1, tzinfo=UTC)
    info = ZoneInfo(zone)
    offset = moment.astimezone(info).utcoffset()
    while moment < end:
        following = moment + _STEP
        then = following.astimezone(info).utcoffset()
        if then != offset:
            found.append(_between(zone, moment, following))
        moment, offset = following, then
    return tuple(found)


def _between(zone: str, low: datetime, high: datetime) -> Transition:
    info = ZoneInfo(zone)
    old = low.astimezone(info).utcoffset()
    assert old is not None
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // timedelta(seconds=2) * timedelta(seconds=1)
        if middle.astimezone(info).utcoffset() == old:
            low = middle
        else:
            high = middle
    at = milliseconds(high)
    return Transition(zone, at, (high + old).replace(tzinfo=None), clock(zone, at))


@cache
def zones_with_transitions() -> tuple[str, ...]:
    return tuple(zone for zone in sorted(available_timezones()) if transitions(zone))


@cache
def zones_that_differ() -> tuple[str, ...]:
    """Give one zone for each way in which clocks were put between 2020 and 2030."""
    ways = {tuple(each[1:] for each in transitions(zone)): zone for zone in zones_with_transitions()}
    return tuple(sorted(ways.values()))


class Walk:
    """A zone's clock from a while before an instant to a while after it, in steps of a minute.

    Each step has the minutes of the day that the clock reaches by it for the first time: none while it shows
    again what it has shown, and all that it leaves out when it is put forward.
    """

    def __init__(self, zone: str, at: int, before: int = 240, after: int = DAY + 120) -> None:
        self.begin = (at // MINUTE - before) * MINUTE
        latest = clock(zone, self.begin)
        self.shown = _minute_of_day(latest)
        self.steps: list[tuple[int, tuple[int, ...]]] = []
        for number in range(1, before + after + 1):
            instant = self.begin + number * MINUTE
            shown = clock(zone, instant)
            reached = tuple(_minutes_between(latest, shown))
            latest = max(latest, shown)
            self.steps.append((instant, reached))

    def quiet(self, start: str, end: str) -> Iterator[tuple[int, bool]]:
        """Say at each minute whether a window is open, from what opens it and what closes it."""
        opens, closes = minute_of(start), minute_of(end)
        is_open = (self.shown - opens) % DAY < (closes - opens) % DAY
        for instant, reached in self.steps:
            for minute in reached:
                if minute == opens:
                    is_open = True
                elif minute == closes:
                    is_open = False
            yield instant, is_open


def minute_of(text: str) -> int:
    return int(text[:2]) * 60 + int(text[3:])


def text_of(minute: int) -> str:
    return f"{minute % DAY // 60:02}:{minute % 60:02}"


def labels_about(transition: Transition) -> Sequence[str]:
    """Give times of day on and around the edges of what a clock leaves out or shows twice."""
    before, after = (_minute_of_day(each) for each in (transition.before, transition.after))
    middle = before + (after - before) // 2
    near = [edge + minutes for edge in (before, after) for minutes in (-75, -1, 0, 1, 75)]
    return tuple(dict.fromkeys(text_of(minute) for minute in [*near, middle, before + 720]))


def _minute_of_day(shown: datetime) -> int:
    return shown.hour * 60 + shown.minute


def _minutes_between(latest: datetime, shown: datetime) -> Iterator[int]:
    minute = latest.replace(second=0, microsecond=0)
    while (minute := minute + timedelta(minutes=1)) <= shown:
        yield _minute_of_day(minute)
