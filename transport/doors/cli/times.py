"""Times as people read them."""

from datetime import datetime

from showcaller.transport.doors.cli.visible import visible


def local_time(text: str) -> str:
    """Give the time of a result, UTC, as the person's own to the minute; what is no time as it is."""
    try:
        return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return visible(text)


def seconds_between(earlier: str, later: str) -> float | None:
    """Give the seconds from one time of a result to another; None when one is no time."""
    try:
        return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
    except (ValueError, TypeError):  # text that is no time; one with a zone beside one without
        return None
