"""``showcaller update``: change settings of a session, for its next turns."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from showcaller.transport.doors.cli.acting import act_on_each, sessions_options
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.paths import FOLDER
from showcaller.transport.doors.cli.prompt_options import MODES
from showcaller.transport.doors.cli.relay import Door, LocalRelay


@click.command(
    "update",
    cls=Command,
    help="""Change settings of a session, for its next turns.

SESSION is an id, the first six or more characters of one, or a title. What is
left out stays as it is. A session goes to another folder only while nothing of
it runs or waits; its agent is restarted there.

A session that an agent has started may start sessions itself only with
--may-create-sessions, which no agent can set.

\b
Examples:
  showcaller update nightly --title 'Nightly tests' --group checks
  showcaller update 3f9c2a1e --mode plan --model large
  showcaller update 3f9c2a1e --may-create-sessions
""",
)
@click.option("--title", metavar="TEXT", help="Its title.")
@click.option("--model", metavar="MODEL", help="A model of its provider.")
@click.option("--effort", metavar="WORD", help="How hard the model thinks.")
@click.option("--mode", type=click.Choice(MODES, case_sensitive=False), help="How freely its agent works.")
@click.option(
    "--group", metavar="GROUP", help="A group's id or name, a new name, or none to leave its group."
)
@click.option("--cwd", type=FOLDER, help="The folder to work in from now on.")
@click.option("--auto-compact-window", metavar="TOKENS", help="When its agent compacts its context, or auto.")
@click.option("--thinking/--no-thinking", "thinking_enabled", default=None, help="Whether its model thinks.")
@click.option("--thinking-display", metavar="WORD", help="How its thoughts are shown.")
@click.option(
    "--may-create-sessions/--may-not-create-sessions",
    default=None,
    help="Whether its agent may start sessions.",
)
@sessions_options
@click.pass_obj
def command(
    door: Door, /, sessions: tuple[str, ...], as_json: bool, cwd: Path | None, **settings: Any
) -> int:
    """Do it and give the exit code."""
    wanted = {name: value for name, value in settings.items() if value is not None}
    if cwd is not None:
        wanted["cwd"] = str(cwd.absolute())
    if not wanted:
        raise click.UsageError("Name at least one setting, as in: --title TEXT")

    def act(relay: LocalRelay, session: str) -> Mapping[str, Any]:
        return relay.call({"action": "update_session", "relay": "this", "session": session, **wanted})

    return act_on_each(door, sessions, act, "changed", as_json=as_json)
