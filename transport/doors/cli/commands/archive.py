"""``showcaller archive``: put sessions away that are not at work."""

from collections.abc import Mapping
from typing import Any

import click

from showcaller.transport.doors.cli.acting import act_on_each, sessions_options
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door, LocalRelay


@click.command(
    "archive",
    cls=Command,
    help="""Put sessions away that are not at work.

SESSION is an id, the first six or more characters of one, or a title. They can
still be read, and are listed by sessions --scope all; what waits in the queue
of one is cancelled. Ends with 1 when one of them was refused.

\b
Examples:
  showcaller archive 3f9c2a1e
  showcaller archive 3f9c2a1e 07bd19 --json
""",
)
@sessions_options
@click.pass_obj
def command(door: Door, sessions: tuple[str, ...], as_json: bool) -> int:
    """Do it and give the exit code."""
    return act_on_each(door, sessions, _act, "archived", as_json=as_json)


def _act(relay: LocalRelay, session: str) -> Mapping[str, Any]:
    return relay.call({"action": "archive", "relay": "this", "session": session})
