"""``showcaller send``: a prompt to a session that there is."""

from typing import Any

import click

from showcaller.transport.doors.cli.commands.new import MODES
from showcaller.transport.doors.cli.durations import Duration
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.prompting import (
    Patience,
    Prompting,
    read_text,
    refuse_without_relay,
    show_result,
)
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.session_names import find_session, refuse_empty


@click.command(
    "send",
    cls=Command,
    help="""Send a prompt to a session, and wait for the reply.

SESSION is an id, the first six or more characters of one, or a title. TEXT is
the prompt; - reads it from standard input. The reply goes to standard output.

Without a relay that runs (showcaller serve) the turn runs within this command,
and is interrupted if it has not ended when the command does.

Ends with 0 when the reply is there, and with 1 when the turn failed, was
stopped, or has not ended within --wait.

\b
Examples:
  showcaller send 3f9c2a1e 'make test'
  showcaller send nightly --if-busy fail --wait 5m 'and now the docs'
  showcaller send 3f9c2a1e --no-wait - < prompt.txt
""",
)
@click.argument("session")
@click.argument("text")
@click.option(
    "--if-busy",
    type=click.Choice(["queue", "fail"], case_sensitive=False),
    default="queue",
    show_default=True,
    help="What to do while it works: wait in its queue, or fail.",
)
@click.option("--mode", type=click.Choice(MODES, case_sensitive=False), help="How freely the agent works.")
@click.option("--model", metavar="MODEL", help="A model of its provider, from now on.")
@click.option("--effort", metavar="WORD", help="How hard the model thinks, from now on.")
@click.option("--wait", type=Duration(), help="How long to wait: 30s, 5m.  [default: to its end]")
@click.option("--no-wait", is_flag=True, help="Store the prompt and return at once; needs a relay that runs.")
@click.option("--id", "client_id", metavar="ID", help="Makes a repeat harmless: the same id sends it once.")
@click.option("--json", "as_json", is_flag=True, help="Write what became of the prompt as one JSON object.")
@home_option
@click.pass_obj
def command(
    door: Door,
    /,
    session: str,
    text: str,
    wait: float | None,
    no_wait: bool,
    client_id: str | None,
    as_json: bool,
    **settings: Any,
) -> int:
    """Send a prompt and give the exit code."""
    from showcaller.actors.runtime.clock import SYSTEM_CLOCK

    patience = Patience.of(no_wait=no_wait, wait=wait)
    refuse_empty(door, session)
    refuse_without_relay(door, patience)
    prompt = read_text(text)
    with opened(door, read_only=False) as relay:
        arguments = {"action": "send", "relay": "this", "session": find_session(relay, door, session)}
        arguments |= {"text": prompt, **settings}
        result = Prompting(door, relay, patience, SYSTEM_CLOCK.monotonic).send(arguments, client_id)
        return show_result(door, result, patience, as_json=as_json)
