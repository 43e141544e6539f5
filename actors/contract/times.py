"""Times: milliseconds since the epoch (UTC) inside, ISO 8601 text in UTC with milliseconds outside."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_TEXT: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z", re.ASCII)

FIRST: Final = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MILLISECOND
LAST: Final = (datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=UTC) - _EPOCH) // _MILLISECOND


def time_text(milliseconds: int) -> str:
    """Write a time as in ``2026-11-02T02:00:00.000Z``.

    Args:
        milliseconds: since the epoch, in the years 1 to 9999 (``FIRST`` to ``LAST``).

    Raises:
        OverflowError: for a time outside of those years.

    """
    moment = _EPOCH + milliseconds * _MILLISECOND
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def milliseconds_of(text: str) -> int:
    """Read what ``time_text`` writes, and nothing else; gives milliseconds since the epoch.

    Raises:
        ValueError: for any other text, an impossible date or time included.

    """
    if not _TEXT.fullmatch(text):
        raise ValueError(f'{text!r} is not a time in UTC like "2026-11-02T02:00:00.000Z"')
    return (datetime.fromisoformat(text) - _EPOCH) // _MILLISECOND
