"""``showcaller export``: a whole conversation as a text to read or keep."""

from typing import Literal

import click

from showcaller.actors.contract.errors import Refusal
from showcaller.transport.doors.cli.exits import GOOD, refused
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import write_piece
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.session_names import find_session, refuse_empty


@click.command(
    "export",
    cls=Command,
    help="""Write a whole conversation to standard output.

SESSION is an id, the first six or more characters of one, or a title. It is
read from the store, without waking the agent: what is known of the session, its
prompts with what became of them, the replies, and what ran in the background.

\b
Examples:
  showcaller export 3f9c2a1e > talk.md
  showcaller export nightly --format html > talk.html
  showcaller export 3f9c2a1e --json
""",
)
@click.argument("session")
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "jsonl", "html"], case_sensitive=False),
    help="Markdown, JSON Lines or one HTML page.  [default: md]",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format jsonl.")
@home_option
@click.pass_obj
def command(door: Door, session: str, form: Literal["md", "jsonl", "html"] | None, as_json: bool) -> int:
    """Export a session and give the exit code."""
    if as_json and form not in (None, "jsonl"):
        raise click.UsageError(f"--json and --format {form} contradict each other.")
    refuse_empty(door, session)
    chosen = "jsonl" if as_json else form or "md"
    with opened(door, read_only=True) as relay:
        try:
            for piece in relay.export(find_session(relay, door, session), chosen):
                write_piece(piece)
        except Refusal as refusal:
            raise refused(refusal.to_result()) from refusal
    return GOOD
