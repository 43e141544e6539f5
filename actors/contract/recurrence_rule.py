"""Recurrence rules of RFC 5545: which are taken, and when one fires, first and next, in bounded steps."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from types import MappingProxyType
from typing import Final, Self, cast

from dateutil.relativedelta import relativedelta
from dateutil.rrule import rrule, rrulestr

from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.limits import SCHEDULE_YEARS
from showcaller.actors.contract.zones import instant, local_time

# How many steps the library may take before the first time is found: intervals beyond five years for the
# coarse ones; for hours and minutes what takes it a tenth of a second.
_STEPS: Final = MappingProxyType(
    {
        "YEARLY": SCHEDULE_YEARS + 2,
        "MONTHLY": 12 * SCHEDULE_YEARS + 2,
        "WEEKLY": 53 * SCHEDULE_YEARS + 2,
        "DAILY": 366 * SCHEDULE_YEARS + 2,
        "HOURLY": 250_000,
        "MINUTELY": 250_000,
    }
)
# And until the last time of a rule with a COUNT, all of which have to be gone through: a hundred years.
_COUNTING: Final = MappingProxyType(
    {
        "YEARLY": 100,
        "MONTHLY": 1_200,
        "WEEKLY": 5_300,
        "DAILY": 36_600,
        "HOURLY": 250_000,
        "MINUTELY": 250_000,
    }
)
_RANGES: Final = MappingProxyType(
    {
        "INTERVAL": (1, 525_600),
        "COUNT": (1, 10_000),
        "BYMONTH": (1, 12),
        "BYMONTHDAY": (1, 31),
        "BYYEARDAY": (1, 366),
        "BYWEEKNO": (1, 53),
        "BYHOUR": (0, 23),
        "BYMINUTE": (0, 59),
        "BYSETPOS": (1, 366),
    }
)
_SINGLE: Final = frozenset({"INTERVAL", "COUNT"})
_FROM_THE_END: Final = frozenset({"BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS"})
_PARTS: Final = ("FREQ", "UNTIL", "WKST", "BYDAY", *_RANGES)
_DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_DAY: Final = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?\d{1,7}", re.ASCII)
_UNTIL: Final = re.compile(r"\d{8}(?:T\d{6}Z?)?", re.ASCII)
# A day that a rule of hours or minutes leaves out costs as much as this many steps within a day.
_DAY_LEFT_OUT: Final = 100
_NEVER: Final = f"has no time within {SCHEDULE_YEARS} years, or takes too long to find it"
_END_OF_DAY: Final = timedelta(hours=23, minutes=59)
_INSTANT: Final = timedelta(microseconds=1)


def read_rule(text: str) -> str:
    """Take the text of a rule, as in ``FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0``.

    Gives it in capitals, without ``RRULE:``. Whether it ever fires depends on its start: see ``first_time``.

    Raises:
        ValueError: for what is no rule, has seconds, or combines parts that do not go together; its words
            follow an argument's name.

    """
    rule = text.strip().upper().removeprefix("RRULE:").rstrip(";")
    parts = _read_parts(rule)
    for name, value in parts.items():
        _check_part(name, value)
    _check_together(parts)
    return rule


def _read_parts(rule: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in rule.split(";"):
        name, equals, value = part.partition("=")
        if name in {"BYSECOND", "DTSTART"}:
            why = "rules have no seconds" if name == "BYSECOND" else "at says when it begins"
            raise ValueError(f"must not have {name}: {why}")
        if not equals or name not in _PARTS:
            raise ValueError(f"has no part {quote_foreign(part, 60)}; parts: {', '.join(_PARTS)}")
        if name in parts:
            raise ValueError(f"has {name} twice")
        parts[name] = value
    return parts


def _check_part(name: str, value: str) -> None:
    if name == "FREQ":
        if value not in _STEPS:
            raise ValueError(f"FREQ must be one of {', '.join(_STEPS)}, not {quote_foreign(value, 40)}")
    elif name == "UNTIL":
        _until(value, None)
    elif name == "WKST":
        if not _DAY.fullmatch(value) or len(value) != 2:
            raise ValueError(f"WKST must be a day of the week as in MO, not {quote_foreign(value, 40)}")
    elif name == "BYDAY":
        for day in value.split(","):
            _check_day(day)
    else:
        numbers = [value] if name in _SINGLE else value.split(",")
        for number in numbers:
            _check_number(name, number)


def _check_day(day: str) -> None:
    found = _DAY.fullmatch(day)
    if not found or (found[1] and not 1 <= abs(int(found[1])) <= 53):
        raise ValueError(
            f"BYDAY must name days of the week as in MO, 1MO or -1FR, not {quote_foreign(day, 40)}"
        )


def _check_number(name: str, number: str) -> None:
    low, high = _RANGES[name]
    from_the_end = name in _FROM_THE_END
    if _NUMBER.fullmatch(number):
        size = abs(int(number)) if from_the_end else int(number)
        if low <= size <= high:
            return
    backwards = f" or -{high} to -{low}" if from_the_end else ""
    raise ValueError(f"{name} must be {low} to {high}{backwards}, not {quote_foreign(number, 40)}")


def _check_together(parts: dict[str, str]) -> None:
    if "FREQ" not in parts:
        raise ValueError(f"needs FREQ: one of {', '.join(_STEPS)}")
    frequency = parts["FREQ"]
    numbered = [any(map(str.isdigit, day)) for day in parts.get("BYDAY", "MO").split(",")]
    wrong = {
        "has COUNT and UNTIL; give one": "COUNT" in parts and "UNTIL" in parts,
        "has BYWEEKNO, which goes with FREQ=YEARLY only": "BYWEEKNO" in parts and frequency != "YEARLY",
        f"has BYYEARDAY, which does not go with FREQ={frequency}": "BYYEARDAY" in parts
        and frequency in {"MONTHLY", "WEEKLY", "DAILY"},
        "has BYMONTHDAY, which does not go with FREQ=WEEKLY": "BYMONTHDAY" in parts and frequency == "WEEKLY",
        "has numbered days, which go with FREQ=MONTHLY or YEARLY without BYWEEKNO only": any(numbered)
        and (frequency not in {"MONTHLY", "YEARLY"} or "BYWEEKNO" in parts),
        "has days with and without a number; give one kind": any(numbered) and not all(numbered),
        "has BYSETPOS, which needs another part beginning with BY": "BYSETPOS" in parts
        and not any(name.startswith("BY") and name != "BYSETPOS" for name in parts),
    }
    for problem, applies in wrong.items():
        if applies:
            raise ValueError(problem)


def _until(value: str, zone: tzinfo | None) -> datetime:
    """Give the local time up to which a rule fires; without a zone it is only checked."""
    problem = f"UNTIL must be a time as in 20270131T090000Z, or a date, not {quote_foreign(value, 40)}"
    if not _UNTIL.fullmatch(value):
        raise ValueError(problem)
    try:
        read = datetime.strptime(value.rstrip("Z"), "%Y%m%dT%H%M%S" if "T" in value else "%Y%m%d")  # noqa: DTZ007 - the zone is the rule's
    except ValueError as error:
        raise ValueError(problem) from error
    if not 2 <= read.year <= 9998:
        raise ValueError(problem)
    if "T" not in value:
        return read + _END_OF_DAY
    return local_time(read.replace(tzinfo=UTC), zone) if zone is not None and value.endswith("Z") else read


class _TooFar(Exception):
    """The library has tried as many intervals as it may."""


class _Steps(int):
    """An interval that counts how often it is added: the library itself would search to the year 9999."""

    left: int

    @classmethod
    def within(cls, interval: int, steps: int) -> Self:
        made = cls(interval)
        made.left = steps
        return made

    def _count(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise _TooFar

    def __radd__(self, other: int) -> int:
        self._count()
        return other + int(self)

    def __mul__(self, other: int) -> int:
        self._count()
        return int(self) * other

    def __rfloordiv__(self, other: int) -> int:
        self._count(_DAY_LEFT_OUT)
        return other // int(self)


def first_time(rule: str, start: datetime, zone: tzinfo) -> datetime:
    """Give the first instant, in UTC, at which a rule fires.

    A local time that a zone skips fires at the jump, one that comes twice at its first pass.

    Args:
        rule: what ``read_rule`` gave.
        start: the instant before which it does not fire. Its local time, the next whole minute if it is none,
            gives the parts that the rule leaves out, and is where intervals and counts begin.
        zone: the zone of the rule's local times.

    Raises:
        ValueError: when it does not fire within five years, or this is not found quickly; its words follow
            an argument's name.

    """
    origin = _whole_minute(local_time(start, zone))
    # In the second pass of a repeated hour, the first one's times are over.
    return _found(_local_times(_parts(rule), origin, zone), start - _INSTANT, zone)


def next_time(rule: str, start: datetime, after: datetime, zone: tzinfo) -> datetime:
    """Give the first instant after ``after``, in UTC, at which a rule fires that began at ``start``.

    It costs the same however long ago the rule began, unless it has a COUNT. Arguments and errors are those
    of ``first_time``; a rule whose last time is over does not fire within five years either.
    """
    origin, now = _whole_minute(local_time(start, zone)), local_time(after, zone)
    parts = _parts(rule)
    if "COUNT" not in parts and now > origin:
        parts |= _left_out(parts, origin)
        origin = _moved(parts, origin, now)
    return _found(_local_times(parts, origin, zone), after, zone)


def check_count(rule: str, start: datetime, zone: tzinfo) -> None:
    """Look whether all times of a rule with a COUNT can be gone through quickly; others pass.

    Raises:
        ValueError: when they cannot; its words follow an argument's name.

    """
    parts = _parts(rule)
    if "COUNT" not in parts:
        return
    try:
        for _ in _local_times(parts, _whole_minute(local_time(start, zone)), zone):
            pass
    except (_TooFar, ValueError) as error:
        raise ValueError("has a COUNT that takes too long to count to; give UNTIL") from error


def _found(local_times: Iterator[datetime], after: datetime, zone: tzinfo) -> datetime:
    try:
        instants = (instant(local, zone) for local in local_times)
        found = next((each for each in instants if each > after), None)
    except (_TooFar, ValueError) as error:  # the library raises when hours never meet the interval
        raise ValueError(_NEVER) from error
    if found is None or found > after + relativedelta(years=SCHEDULE_YEARS) + _INSTANT:
        raise ValueError(_NEVER)
    return found


def _parts(rule: str) -> dict[str, str]:
    # Without it the library takes the first day of the week from the running program.
    return {"WKST": "MO", **_read_parts(rule)}


def _local_times(given: dict[str, str], origin: datetime, zone: tzinfo) -> Iterator[datetime]:
    parts = dict(given)
    until = _until(parts.pop("UNTIL"), zone) if "UNTIL" in parts else None
    steps = (_COUNTING if "COUNT" in parts else _STEPS)[parts["FREQ"]]
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    read = cast(rrule, rrulestr(text, dtstart=origin))
    yield from read.replace(interval=_Steps.within(int(parts.get("INTERVAL", "1")), steps), until=until)


def _left_out(parts: dict[str, str], origin: datetime) -> dict[str, str]:
    """Give the parts that a rule takes from where it began, so that it can be gone through from elsewhere."""
    frequency = parts["FREQ"]
    taken: dict[str, int | str] = {}
    if not parts.keys() & {"BYWEEKNO", "BYYEARDAY", "BYMONTHDAY", "BYDAY"}:
        if frequency == "YEARLY" and "BYMONTH" not in parts:
            taken["BYMONTH"] = origin.month
        if frequency in {"YEARLY", "MONTHLY"}:
            taken["BYMONTHDAY"] = origin.day
        if frequency == "WEEKLY":
            taken["BYDAY"] = _DAYS[origin.weekday()]
    if frequency not in {"HOURLY", "MINUTELY"} and "BYHOUR" not in parts:
        taken["BYHOUR"] = origin.hour
    if frequency != "MINUTELY" and "BYMINUTE" not in parts:
        taken["BYMINUTE"] = origin.minute
    return {name: str(value) for name, value in taken.items()}


def _moved(parts: dict[str, str], origin: datetime, now: datetime) -> datetime:
    """Give the beginning of the last of a rule's intervals that has begun by now; dates and hours of no zone.

    The first interval begins where the rule does, which matters where places in an interval are counted.
    """
    interval = int(parts.get("INTERVAL", "1"))
    midnight = origin.replace(hour=0, minute=0)
    match parts["FREQ"]:
        case "YEARLY":
            whole = (now.year - origin.year) // interval
            begun = midnight.replace(year=origin.year + whole * interval, month=1, day=1)
        case "MONTHLY":
            whole = ((now.year - origin.year) * 12 + now.month - origin.month) // interval
            begun = midnight.replace(day=1) + relativedelta(months=whole * interval)
        case "WEEKLY":
            monday = midnight - timedelta(days=(origin.weekday() - _DAYS.index(parts["WKST"])) % 7)
            whole = (now - monday) // timedelta(weeks=interval)
            begun = monday + whole * timedelta(weeks=interval)
        case "DAILY":
            whole = (now - midnight) // timedelta(days=interval)
            begun = midnight + whole * timedelta(days=interval)
        case "HOURLY":
            hour = origin.replace(minute=0)
            whole = (now - hour) // timedelta(hours=interval)
            begun = hour + whole * timedelta(hours=interval)
        case _:
            whole = (now - origin) // timedelta(minutes=interval)
            begun = origin + whole * timedelta(minutes=interval)
    return begun if whole > 0 else origin


def _whole_minute(local: datetime) -> datetime:
    begun = local.replace(second=0, microsecond=0)
    return begun if begun == local else begun + timedelta(minutes=1)
