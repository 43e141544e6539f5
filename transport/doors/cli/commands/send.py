"""``showcaller send``: a prompt to a session that there is."""

from typing import Any

import click

from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.prompt_options import prompt_options
from showcaller.transport.doors.cli.prompting import Patience, carry_out, read_text, refuse_without_relay
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.session_names import find_session, refuse_empty


@click.command(
    "send",
    cls=Command,
    help="""Send a prompt to a session, and wait for the reply.

SESSION is an id, the first six or more characters of one, or a title. TEXT is
the prompt; - reads it from standard input. The reply goes to standard output.
--model and --effort hold for what comes after, too.

Without a relay that runs (showcaller serve) the turn runs within this command,
and is interrupted if it has not ended when the command does.

Ends with 0 when the reply is there, and with 1 when the turn failed, was
stopped, waits for an answer of yours, or has not ended within --wait.

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
@prompt_options
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
    patience = Patience.of(no_wait=no_wait, wait=wait)
    refuse_empty(door, session)
    refuse_without_relay(door, patience)
    prompt = read_text(text)

    def arguments(relay: LocalRelay) -> dict[str, Any]:
        named = {"action": "send", "relay": "this", "session": find_session(relay, door, session)}
        return named | {"text": prompt, **settings}

    return carry_out(door, arguments, patience, client_id, as_json=as_json)
