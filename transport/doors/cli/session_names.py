"""Finding the session that a person means: by its id, the beginning of one, or an unambiguous title."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from showcaller.transport.doors.cli.exits import FAILED, NOT_FOUND, CommandError, checked
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.session_lists import list_sessions
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import visible

MOST_CANDIDATES: Final = 100
CANDIDATES_SHOWN: Final = 10
_ID_FORM: Final = re.compile(r"(ses_)?[0-9a-z]{6,12}")


def find_session(relay: LocalRelay, door: Door, name: str) -> str:
    """Give the id of the session that a name means; raises ``CommandError`` for none, or several."""
    session: str = read_session(relay, door, name, last=1)["session"]["id"]
    return session


def read_session(relay: LocalRelay, door: Door, name: str, last: int, **further: Any) -> Mapping[str, Any]:
    """Read the session of that id, beginning of an id, or title, with its ``last`` messages.

    Raises ``CommandError`` when there is none, or several.
    """
    reading = {"action": "read_session", "relay": "this", "last": last, **further}
    if _ID_FORM.fullmatch(name.strip()):
        result = relay.call(reading | {"session": name.strip()})
        if result.get("code") != "REMOTE_RELAY_NOT_FOUND":
            return checked(result)
    return checked(relay.call(reading | {"session": _by_title(relay, door, name)}))


def refuse_empty(door: Door, name: str) -> None:
    """Refuse a session's name where no relay ever stored anything; raises ``CommandError``."""
    if door.is_empty:
        raise CommandError(f"No session {name!r}: {door.home} holds none.", code=NOT_FOUND)


def _by_title(relay: LocalRelay, door: Door, title: str) -> str:
    wanted = title.strip().casefold()
    holding = list_sessions(relay, scope="all", query=title.strip(), limit=MOST_CANDIDATES) if wanted else []
    exact = [session for session in holding if str(session.get("title")).casefold() == wanted]
    found = exact or holding
    if not found:
        raise CommandError(
            f"No session has the id or the title {title!r}.",
            f"To see what there is: {door.command_line('sessions', '--scope', 'all')}",
            NOT_FOUND,
        )
    if len(found) > 1:
        how = "is the title" if exact else "is part of the titles"
        raise CommandError(f"{title!r} {how} of several sessions.", _candidates(found), FAILED)
    return str(found[0]["id"])


def _candidates(found: Sequence[Mapping[str, Any]]) -> str:
    lines = ["Name one by its id:"]
    for session in found[:CANDIDATES_SHOWN]:
        group = (session.get("group") or {}).get("name") or "no group"
        at = local_time(str(session.get("lastActivityAt") or ""))
        lines.append(
            f"  {'  '.join([session['id'], at, visible(str(group)), visible(str(session['title']))])}"
        )
    if len(found) > CANDIDATES_SHOWN:
        lines.append(f"  and {len(found) - CANDIDATES_SHOWN} more")
    return "\n".join(lines)
