"""Times as people read them, in every command the same; ``--json`` gives them as the relay does, in UTC."""

from datetime import datetime

from showcaller.transport.doors.cli.visible import visible


def local_time(text: str) -> str:
    """Give the time of a result, UTC, as the person's own, to the second and with how far that is from UTC.

    What is no time is given as it is.
    """
    try:
        return datetime.fromisoformat(text).astimezone().isoformat(sep=" ", timespec="seconds")
    except (ValueError, OverflowError):
        return visible(text)
