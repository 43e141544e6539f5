"""``showcaller restart``: go on with a session in a new process of its agent."""

from collections.abc import Mapping
from typing import Any

import click

from showcaller.transport.doors.cli.acting import act_on_each, sessions_options
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.prompting import require_relay
from showcaller.transport.doors.cli.relay import Door, LocalRelay


@click.command(
    "restart",
    cls=Command,
    help="""Go on with a session in a new process of its agent.

SESSION is an id, the first six or more characters of one, or a title. The
session keeps its id, and the agent its conversation, by the best way that it
has; the answer says which. Refused while the session works, and for one that
runs a command or a function. It needs a relay that runs.

\b
Examples:
  showcaller restart 3f9c2a1e
  showcaller restart tour --json
""",
)
@sessions_options
@click.pass_obj
def command(door: Door, sessions: tuple[str, ...], as_json: bool) -> int:
    """Do it and give the exit code."""
    require_relay(door, "its agent")
    return act_on_each(door, sessions, _act, "it goes on in a new process", as_json=as_json)


def _act(relay: LocalRelay, session: str) -> Mapping[str, Any]:
    return relay.restart(session)
