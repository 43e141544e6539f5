"""Finding the session that a person means: by its id, the beginning of one, or its whole title."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from showcaller.transport.doors.cli.candidates import SHOWN, Candidate, candidate_lines
from showcaller.transport.doors.cli.exits import NOT_FOUND, CommandError, checked, refused, several
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.session_lists import list_sessions
from showcaller.transport.doors.cli.times import local_time

MOST_CANDIDATES: Final = 100
_ID_FORM: Final = re.compile(r"(ses_)?[0-9a-z]{6,12}")
_WHOLE_ID: Final = re.compile(r"ses_[0-9a-z]{12}")


def find_session(relay: LocalRelay, door: Door, name: str) -> str:
    """Give the id of the session that a name means; raises ``CommandError`` for none, or several."""
    session: str = read_session(relay, door, name, last=1)["session"]["id"]
    return session


def read_session(relay: LocalRelay, door: Door, name: str, last: int, **further: Any) -> Mapping[str, Any]:
    """Read the session of that id, beginning of an id, or title, with its ``last`` messages.

    Raises ``CommandError`` when there is none, or several.
    """
    named = name.strip()
    reading = {"action": "read_session", "relay": "this", "last": last, **further}
    if _ID_FORM.fullmatch(named):
        result = relay.call(reading | {"session": named})
        if result.get("ambiguous"):
            raise refused(result, candidate_lines(_read_each(relay, result["sessions"])))
        if result.get("code") != "REMOTE_RELAY_NOT_FOUND":
            return checked(result)
        if _WHOLE_ID.fullmatch(named):  # of one that was deleted it says so
            raise refused(result, _way_to_list(door))
    return checked(relay.call(reading | {"session": _by_title(relay, door, name)}))


def refuse_empty(door: Door, name: str) -> None:
    """Refuse a session's name where no relay ever stored anything; raises ``CommandError``."""
    if door.is_empty:
        raise CommandError(f"No session {name!r}: {door.home} holds none.", code=NOT_FOUND)


def _by_title(relay: LocalRelay, door: Door, title: str) -> str:
    wanted = title.strip().casefold()
    holding = _holding(relay, title.strip()) if wanted else []
    found = [session for session in holding if str(session.get("title")).casefold() == wanted]
    if not found:  # a part of a title names nothing: what is deleted by mistake does not come back
        raise CommandError(
            f"No session has the id or the title {title!r}.", _way_on(door, holding), NOT_FOUND
        )
    if len(found) > 1:
        raise several(title, "sessions", [_candidate(session) for session in found])
    return str(found[0]["id"])


def _holding(relay: LocalRelay, text: str) -> Sequence[Mapping[str, Any]]:
    return list_sessions(relay, scope="all", query=text, limit=MOST_CANDIDATES).sessions


def _way_on(door: Door, holding: Sequence[Mapping[str, Any]]) -> str:
    """Say how to name a session whose title has the text in it, if there are such, or how to list them."""
    if not holding:
        return f"Of an id, its first six characters are needed. {_way_to_list(door)}"
    listed = candidate_lines([_candidate(session) for session in holding])
    return f"These have it in their title; name one by its id or its whole title:\n{listed}"


def _way_to_list(door: Door) -> str:
    return f"To see what there is: {door.command_line('sessions', '--scope', 'all')}"


def _read_each(relay: LocalRelay, sessions: Sequence[str]) -> list[Candidate]:
    """Give what tells each session from the others, of as many as are shown."""
    reading = {"action": "read_session", "relay": "this", "last": 1}
    read = [
        _candidate(checked(relay.call(reading | {"session": each}))["session"]) for each in sessions[:SHOWN]
    ]
    return [*read, *((each,) for each in sessions[SHOWN:])]


def _candidate(session: Mapping[str, Any]) -> Candidate:
    group = (session.get("group") or {}).get("name") or "no group"
    at = local_time(str(session.get("lastActivityAt") or ""))
    away = ("archived",) if session.get("archived") else ()
    return (str(session["id"]), at, str(group), str(session.get("title") or ""), *away)
