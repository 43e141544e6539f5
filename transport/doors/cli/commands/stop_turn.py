"""``showcaller stop-turn``: ask the running turn of a session to stop."""

from collections.abc import Mapping
from typing import Any

import click

from showcaller.transport.doors.cli.acting import act_on_each, sessions_options
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door, LocalRelay


@click.command(
    "stop-turn",
    cls=Command,
    help="""Ask the running turn of a session to stop.

SESSION is an id, the first six or more characters of one, or a title. What
waits in its queue stays there until somebody prompts the session again, or
showcaller go-on lets it run.
When nothing was running it says so ("stopRequested" is false), and ends with 0.

\b
Examples:
  showcaller stop-turn 3f9c2a1e
  showcaller stop-turn nightly --json
""",
)
@sessions_options
@click.pass_obj
def command(door: Door, sessions: tuple[str, ...], as_json: bool) -> int:
    """Do it and give the exit code."""
    return act_on_each(door, sessions, _act, "told to stop", as_json=as_json)


def _act(relay: LocalRelay, session: str) -> Mapping[str, Any]:
    return relay.call({"action": "stop", "relay": "this", "session": session})
