"""``showcaller delete``: forget sessions for good."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from showcaller.transport.doors.cli.acting import act_on_each, sessions_options
from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.output import note
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.session_names import refuse_empty
from showcaller.transport.doors.cli.visible import visible


@click.command(
    "delete",
    cls=Command,
    help="""Delete sessions for good, with all that was said in them.

SESSION is an id, the first six or more characters of one, or a title. It asks
first, unless --yes is given. One that is at work is refused: kill it first.

\b
Examples:
  showcaller delete 3f9c2a1e
  showcaller delete --yes 3f9c2a1e 07bd19 --json
""",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@sessions_options
@click.pass_obj
def command(door: Door, sessions: tuple[str, ...], yes: bool, as_json: bool) -> int:
    """Delete and give the exit code."""
    refuse_empty(door, sessions[0])
    if not yes and not _is_wanted(sessions):
        note("Nothing was deleted.")
        return GOOD
    return act_on_each(door, sessions, _act, "deleted", as_json=as_json)


def _is_wanted(sessions: Sequence[str]) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here: give --yes to delete without being asked.")
    named = ", ".join(visible(name) for name in sessions)
    return click.confirm(f"Delete {named} for good?", err=True)


def _act(relay: LocalRelay, session: str) -> Mapping[str, Any]:
    return relay.delete(session)
