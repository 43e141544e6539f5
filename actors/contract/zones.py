"""Time zones by their IANA names, and the instant that a local time in one means."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from dateutil import tz

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}", re.ASCII)
# Files of a zone database that name no zone, or the machine's own.
_NO_ZONES: Final = frozenset({"localtime", "posixrules", "factory", "posix", "right"})
_SECOND: Final = timedelta(seconds=1)
# A jump that skips a local time lies within the widest offsets from where UTC would put it.
_WIDEST: Final = timedelta(hours=26)


def find_zone(name: str) -> tzinfo | None:
    """Give the time zone with this IANA name; None for any other text.

    The host's own zone is never meant: not by an empty text, a path, an abbreviation that the host happens
    to use, nor by a rule as in ``EST5EDT4,M3.2.0``. Thread-safe; reads the zone database at first use.
    """
    if len(name) > 64 or not _NAME.fullmatch(name) or name.split("/", maxsplit=1)[0].lower() in _NO_ZONES:
        return None
    if name == "UTC":
        return tz.UTC
    zone = tz.gettz(name)
    return zone if isinstance(zone, tz.tzfile) else None


def instant(local: datetime, zone: tzinfo) -> datetime:
    """Give the instant, in UTC, that a local time means in a zone.

    A time that comes twice means its first pass; one that is skipped means the jump over it.

    Args:
        local: a time without a zone, in the years 2 to 9998.
        zone: from ``find_zone``.

    """
    meant = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if _local(meant, zone) == local:
        return meant
    low, high = local.replace(tzinfo=UTC) - _WIDEST, local.replace(tzinfo=UTC) + _WIDEST
    while high - low > _SECOND:
        middle = low + (high - low) // (2 * _SECOND) * _SECOND
        if _local(middle, zone) >= local:
            high = middle
        else:
            low = middle
    return high.replace(microsecond=0)


def local_time(moment: datetime, zone: tzinfo) -> datetime:
    """Give the local time, without a zone, of an instant."""
    return _local(moment, zone)


def _local(moment: datetime, zone: tzinfo) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)
