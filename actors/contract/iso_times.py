"""Times as callers write them: ISO 8601 with an offset, with ``Z``, or in the local time of a zone."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from dateutil.parser import isoparser

from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.zones import instant

_DATE: Final = r"\d{4}-\d{2}-\d{2}|\d{8}"
_TIME: Final = r"\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?|\d{4}(?:\d{2}(?:[.,]\d{1,9})?)?"
_OFFSET: Final = r"Z|[+-]\d{2}(?::?\d{2})?"
_TEXT: Final = re.compile(rf"(?:{_DATE})T(?:{_TIME})(?:{_OFFSET})?", re.ASCII)
_READ: Final = isoparser(sep="T").isoparse
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_time(text: str) -> datetime:
    """Read a date with a time of day, as in ``2026-11-02T02:00:00Z``.

    Gives a datetime that has a zone when the text has an offset or ``Z``, and none when it has none.

    Raises:
        ValueError: for any other text, a date without a time included; its words follow an argument's name.

    """
    upper = text.strip().upper()
    problem = (
        f'{quote_foreign(text, 80)} is no ISO 8601 date with a time, as in "2026-11-02T02:00:00Z" '
        'or "2026-11-02T02:00:00+01:00"'
    )
    if not _TEXT.fullmatch(upper):
        raise ValueError(problem)
    try:
        read = _READ(upper)
    except ValueError as error:
        raise ValueError(problem) from error
    if not 2 <= read.year <= 9998:
        raise ValueError(f"{quote_foreign(text, 80)} is in a year that no schedule reaches")
    return read


def milliseconds_at(time: datetime, zone: tzinfo | None) -> int:
    """Give the milliseconds since the epoch of a time that ``read_time`` gave.

    Args:
        time: with a zone of its own, which then counts, or without.
        zone: the zone of a time that has none of its own; not None for such a one.

    """
    if time.tzinfo is None:
        assert zone is not None
        moment = instant(time, zone)
    else:
        moment = time.astimezone(UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def moment_of(milliseconds: int) -> datetime:
    """Give the instant, in UTC, of milliseconds since the epoch."""
    return _EPOCH + timedelta(milliseconds=milliseconds)
