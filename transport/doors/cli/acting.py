"""Doing the same to each of several sessions, and telling what came of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import click

from showcaller.transport.doors.cli.exits import GOOD, CommandError, checked
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, without_envelope, write
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.session_names import find_session, refuse_empty

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])
Act = Callable[[LocalRelay, str], Mapping[str, Any]]
"""Does it to the session of an id, and gives the relay's result."""
NOTHING_DONE: Final = {
    "stopRequested": "nothing was running",
    "released": "nothing was held",
    "changed": "it was so already",
}
"""What a person reads where a result says by this field, false or empty, that nothing was to be done."""


def sessions_options(command: AnyCommand) -> AnyCommand:
    """Let a command take what all have that act on each of several sessions: ``sessions`` and ``as_json``."""
    for option in (
        home_option,
        click.option("--json", "as_json", is_flag=True, help='Write {"sessions": [...]}, one for each.'),
        click.argument("sessions", nargs=-1, required=True, metavar="SESSION..."),
    ):
        command = option(command)
    return command


def act_on_each(door: Door, names: Sequence[str], act: Act, told: str, *, as_json: bool) -> int:
    """Find each session, act on it, and tell; gives the exit code: of several what went wrong last.

    ``told`` is what a person reads of one that was done, where something ran that it was done to. As JSON
    there is one object for each in ``sessions``, and beside it, where one of them failed, what any command
    writes that fails. Raises ``CommandError`` where no relay ever stored anything.
    """
    refuse_empty(door, names[0])
    last: CommandError | None = None
    results: list[Mapping[str, Any]] = []
    with opened(door, read_only=False) as relay:
        for name in names:
            try:
                session = find_session(relay, door, name)
                result = checked(act(relay, session))
            except CommandError as error:
                error.show()
                last = error
                results.append({"session": name, **error.to_result()})
                continue
            results.append(without_envelope(result))
            if not as_json:
                said = next(
                    (why for field, why in NOTHING_DONE.items() if result.get(field) in (False, [])), told
                )
                note(f"{session}: {said}{_note(result)}")
    if as_json:
        write(json_line({"sessions": results} | ({} if last is None else last.to_result())))
    return GOOD if last is None else last.code


def _note(result: Mapping[str, Any]) -> str:
    return f". {result['note']}" if result.get("note") else ""
