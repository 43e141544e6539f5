"""``showcaller new``: a session with its first prompt."""

from pathlib import Path
from typing import Any

import click

from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.paths import FOLDER
from showcaller.transport.doors.cli.prompt_options import prompt_options
from showcaller.transport.doors.cli.prompting import Patience, carry_out, read_text, refuse_without_relay
from showcaller.transport.doors.cli.relay import Door


@click.command(
    "new",
    cls=Command,
    help="""Start a session with a prompt, and wait for the reply.

TEXT is the prompt; - reads it from standard input. The reply goes to standard
output. The session works in the present folder unless --cwd names another, or
on a fresh clone of --repo if that is what the provider takes.

Without a relay that runs (showcaller serve) the session runs within this
command, and what it has not finished when the command ends is interrupted.
With one it goes on, also after Ctrl-C.

Ends with 0 when the reply is there, and with 1 when the turn failed, was
stopped, waits for an answer of yours, or has not ended within --wait.

\b
Examples:
  showcaller new 'make test'
  showcaller new --provider callable:mymodule:work --title nightly 'all' --json
  git diff | showcaller new --no-wait -
  showcaller new --provider mine --repo owner/name --branch fix 'Mend the tests.'
  showcaller new --provider claude --resume 8f14e45f-ceea-4672 'Go on.'
""",
)
@click.argument("text")
@click.option("--provider", metavar="NAME", help="What runs it; see providers.  [default: command]")
@click.option("--cwd", type=FOLDER, help="The folder to work in.  [default: here]")
@click.option(
    "--repo", metavar="REPO", help="What to clone, where the provider takes that: an address, or owner/name."
)
@click.option("--branch", metavar="BRANCH", help="The branch of --repo.")
@click.option("--title", metavar="TEXT", help="The session's title.  [default: the prompt's first line]")
@click.option(
    "--resume",
    metavar="NATIVE_ID",
    help="Continue this conversation of the provider's agent, named by the agent's own id of it.",
)
@click.option("--group", metavar="GROUP", help="The group to put it in, by its id or name.")
@prompt_options
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
    patience = Patience.of(no_wait=no_wait, wait=wait)
    refuse_without_relay(door, patience)
    arguments = {"action": "create_session", "relay": "this", "text": read_text(text), **settings}
    if arguments["resume"] is None:
        del arguments["resume"]
    if cwd is not None or arguments["repo"] is None:
        arguments["cwd"] = str((cwd or Path()).absolute())
    return carry_out(door, lambda _relay: arguments, patience, client_id, as_json=as_json)
