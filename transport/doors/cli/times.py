"""Times as people read them, in every command the same; ``--json`` gives them as the relay does, in UTC."""

from datetime import datetime
from typing import Final

from showcaller.transport.doors.cli.visible import visible

_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000))


def local_time(text: str) -> str:
    """Give the time of a result, UTC, as the person's own, to the second and with how far that is from UTC.

    What is no time is given as it is.
    """
    try:
        return datetime.fromisoformat(text).astimezone().isoformat(sep=" ", timespec="seconds")
    except (ValueError, OverflowError):
        return visible(text)


def age(text: str, now: int) -> str:
    """Give how long ago the time of a result was, in the largest whole unit; ``now`` is in milliseconds.

    What is no time has no age, and what is in the future is no older than a moment.
    """
    try:
        passed = now - int(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        return ""
    return next((f"{passed // size:,} {unit}" for unit, size in _UNITS if passed >= size), "< 1 min")
