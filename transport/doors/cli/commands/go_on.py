"""``showcaller go-on``: let run what a stop holds in a session's queue."""

from collections.abc import Mapping
from typing import Any

import click

from showcaller.transport.doors.cli.acting import act_on_each, sessions_options
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.prompting import require_relay
from showcaller.transport.doors.cli.relay import Door, LocalRelay


@click.command(
    "go-on",
    cls=Command,
    help="""Let a session go on with what has waited since its stop.

SESSION is an id, the first six or more characters of one, or a title. A new
prompt has the queue go on too. Where nothing is held it says so ("released" is
false), and ends with 0. It needs a relay that runs, as nothing else would run
what waits.

\b
Examples:
  showcaller go-on 3f9c2a1e
  showcaller go-on nightly --json
""",
)
@sessions_options
@click.pass_obj
def command(door: Door, sessions: tuple[str, ...], as_json: bool) -> int:
    """Do it and give the exit code."""
    require_relay(door, "what waits")
    return act_on_each(door, sessions, _act, "what was held goes on", as_json=as_json)


def _act(relay: LocalRelay, session: str) -> Mapping[str, Any]:
    return relay.go_on(session)
