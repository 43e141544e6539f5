"""``showcaller kill``: end a session's agent at once, with all that it has started."""

from collections.abc import Mapping
from typing import Any

import click

from showcaller.transport.doors.cli.acting import act_on_each, sessions_options
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door, LocalRelay


@click.command(
    "kill",
    cls=Command,
    help="""End a session's agent at once, with all that it started.

SESSION is an id, the first six or more characters of one, or a title. What the
session runs in the background ends too; the session itself stays, and so does
what waits in its queue, until somebody prompts it again or showcaller go-on
lets it run. When nothing was running it says so ("stopRequested" is false), and
ends with 0.

\b
Examples:
  showcaller kill 3f9c2a1e
  showcaller kill nightly --json
""",
)
@sessions_options
@click.pass_obj
def command(door: Door, sessions: tuple[str, ...], as_json: bool) -> int:
    """Do it and give the exit code."""
    return act_on_each(door, sessions, _act, "ended", as_json=as_json)


def _act(relay: LocalRelay, session: str) -> Mapping[str, Any]:
    return relay.kill(session)
