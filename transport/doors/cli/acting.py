"""Doing the same to each of several sessions, and telling what came of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from showcaller.transport.doors.cli.exits import FAILED, GOOD, NOT_FOUND, CommandError
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.session_names import find_session, refuse_empty

Act = Callable[[LocalRelay, str], Mapping[str, Any]]
"""Does it to the session of an id, and gives the relay's result."""
NOTHING_RAN = "nothing was running"
_ENVELOPE = frozenset({"ok", "relay", "summary"})


def act_on_each(door: Door, names: Sequence[str], act: Act, told: str, *, as_json: bool) -> int:
    """Find each session, act on it, and tell; gives the exit code: of several what went wrong last.

    ``told`` is what a person reads of one that was done, where something ran that it was done to.
    """
    refuse_empty(door, names[0])
    code = GOOD
    results: list[Mapping[str, Any]] = []
    with opened(door, read_only=False) as relay:
        for name in names:
            try:
                session = find_session(relay, door, name)
                result = act(relay, session)
            except CommandError as error:
                if len(names) == 1 and not as_json:
                    raise
                error.show()
                code = error.code
                results.append({"session": name, "error": error.message})
                continue
            if not result.get("ok"):
                code = NOT_FOUND if result.get("code") == "REMOTE_RELAY_NOT_FOUND" else FAILED
                note(f"Error: {result.get('error')}")
                results.append({"session": session, "code": result.get("code"), "error": result.get("error")})
                continue
            results.append({key: value for key, value in result.items() if key not in _ENVELOPE})
            if not as_json:
                said = told if result.get("stopRequested", True) else NOTHING_RAN
                note(f"{session}: {said}{_note(result)}")
    if as_json:
        write(json_line({"sessions": results}))
    return code


def _note(result: Mapping[str, Any]) -> str:
    return f". {result['note']}" if result.get("note") else ""
