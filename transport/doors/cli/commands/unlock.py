"""``showcaller unlock``: let the agent of an external conversation send prompts to others again."""

import click

from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, without_envelope, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.running import ask_running, check_running
from showcaller.transport.doors.cli.session_names import find_session


@click.command(
    "unlock",
    cls=Command,
    help="""Let an external conversation send prompts unasked again.

After 30 prompts to other agents with no word from you, each further one asks
for your approval. In a session that the relay runs, any message of yours begins
the count again; of a conversation that it does not run this command does.
CONVERSATION is an id, the first six or more characters of one, or a title.

\b
Examples:
  showcaller unlock laptop
  showcaller unlock 3f9c2a1e --json
""",
)
@click.argument("conversation")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@home_option
@click.pass_obj
def command(door: Door, conversation: str, as_json: bool) -> int:
    """Do it and give the exit code."""
    check_running(door)
    with opened(door, read_only=True) as relay:
        named = find_session(relay, door, conversation)
    result = ask_running(door, "POST", "/api/acts/unlock", {"session": named})
    if as_json:
        write(json_line(without_envelope(result)))
    else:
        note(f"{named}: its prompts to others count from 0 again")
    return GOOD
