"""Reading the list of sessions over as many pages as it takes."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from showcaller.transport.doors.cli.exits import checked
from showcaller.transport.doors.cli.relay import LocalRelay

PAGE: Final = 100


class Listed(NamedTuple):
    """Sessions as the relay describes them, and whether it has ``more`` than were asked for."""

    sessions: list[Mapping[str, Any]]
    more: bool


def list_sessions(relay: LocalRelay, *, scope: str, query: str | None, limit: int) -> Listed:
    """Give up to ``limit`` sessions, over as many pages as that takes.

    Raises ``CommandError`` when the relay refuses.
    """
    sessions: list[Mapping[str, Any]] = []
    cursor = None
    while len(sessions) < limit:
        arguments = {"action": "list_sessions", "relay": "this", "scope": scope, "query": query}
        page = checked(relay.call(arguments | {"limit": min(limit - len(sessions), PAGE), "cursor": cursor}))
        sessions.extend(page["sessions"])
        cursor = page.get("nextCursor")
        if not cursor:
            break
    return Listed(sessions, more=bool(cursor))
