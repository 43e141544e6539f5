"""``showcaller new``: a session with its first prompt."""

from pathlib import Path
from typing import Any

import click

from showcaller.transport.doors.cli.durations import Duration
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.paths import FOLDER
from showcaller.transport.doors.cli.prompting import (
    Patience,
    Prompting,
    read_text,
    refuse_without_relay,
    show_result,
)
from showcaller.transport.doors.cli.relay import Door

MODES = ("ask", "plan", "agent", "autopilot")


@click.command(
    "new",
    cls=Command,
    help="""Start a session with a first prompt, and wait for the reply.

TEXT is the prompt; - reads it from standard input. The reply goes to standard
output. The session works in the present folder unless --cwd names another.

Without a relay that runs (showcaller serve) the session runs within this
command, and what it has not finished when the command ends is interrupted.
With one it goes on, also after Ctrl-C.

Ends with 0 when the reply is there, and with 1 when the turn failed, was
stopped, or has not ended within --wait.

\b
Examples:
  showcaller new 'make test'
  showcaller new --provider callable:mymodule:work --title nightly 'all' --json
  git diff | showcaller new --no-wait -
""",
)
@click.argument("text")
@click.option("--provider", metavar="NAME", help="What runs it; see providers.  [default: command]")
@click.option("--model", metavar="MODEL", help="A model of the provider.")
@click.option("--cwd", type=FOLDER, help="The folder to work in.  [default: here]")
@click.option("--title", metavar="TEXT", help="The session's title.  [default: the prompt's first line]")
@click.option("--mode", type=click.Choice(MODES, case_sensitive=False), help="How freely the agent works.")
@click.option("--effort", metavar="WORD", help="How hard the model thinks.")
@click.option("--group", metavar="GROUP", help="The group to put it in, by its id or name.")
@click.option("--wait", type=Duration(), help="How long to wait: 30s, 5m.  [default: to its end]")
@click.option("--no-wait", is_flag=True, help="Store the prompt and return at once; needs a relay that runs.")
@click.option("--id", "client_id", metavar="ID", help="Makes a repeat harmless: the same id starts it once.")
@click.option("--json", "as_json", is_flag=True, help="Write what became of the prompt as one JSON object.")
@home_option
@click.pass_obj
def command(
    door: Door,
    /,
    text: str,
    cwd: Path | None,
    wait: float | None,
    no_wait: bool,
    client_id: str | None,
    as_json: bool,
    **settings: Any,
) -> int:
    """Start a session and give the exit code."""
    from showcaller.actors.runtime.clock import SYSTEM_CLOCK

    patience = Patience.of(no_wait=no_wait, wait=wait)
    refuse_without_relay(door, patience)
    arguments = {"action": "create_session", "relay": "this", "text": read_text(text), **settings}
    arguments["cwd"] = str((cwd or Path()).absolute())
    with opened(door, read_only=False) as relay:
        result = Prompting(door, relay, patience, SYSTEM_CLOCK.monotonic).send(arguments, client_id)
        return show_result(door, result, patience, as_json=as_json)
