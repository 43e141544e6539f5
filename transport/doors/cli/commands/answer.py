"""``showcaller answer``: answer a question of an agent, or dismiss it."""

from typing import Any
from urllib.parse import quote

import click

from showcaller.transport.doors.cli.cards import card_id, complete_card, complete_choice
from showcaller.transport.doors.cli.exits import GOOD, NOT_FOUND, CommandError
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import json_line, note, without_envelope, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.prompting import read_text
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.running import ask_running
from showcaller.transport.doors.cli.visible import visible


@click.command(
    "answer",
    cls=Command,
    help="""Answer a question, a permission or an approval.

CARD is its id as the inbox shows it, or the first four or more characters of it
after q_; CHOICE a label of one of its options, in any case. The first answer counts: whoever comes second is
told so. An approval takes Allow or Deny, and only Allow has its call carried
out.

\b
Examples:
  showcaller answer q_3f9c2a1e07bd Allow
  showcaller answer 3f9c2a --text 'The second one, without tests'
  showcaller answer 3f9c2a --dismiss

\b
Exit codes:
  0    it is answered or dismissed
  1    refused: answered already, or no answer that the card takes
  2    the command line itself is wrong
  3    no such question, or no relay answers
""",
)
@click.argument("card", shell_complete=complete_card)
@click.argument("choices", nargs=-1, metavar="[CHOICE]...", shell_complete=complete_choice)
@click.option("--text", metavar="TEXT", help="An answer in free text; - reads it from standard input.")
@click.option("--dismiss", is_flag=True, help="There will be no answer.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@home_option
@click.pass_obj
def command(
    door: Door, card: str, choices: tuple[str, ...], text: str | None, dismiss: bool, as_json: bool
) -> int:
    """Answer it and give the exit code."""
    if dismiss and (choices or text is not None):
        raise click.UsageError("Give an answer, or --dismiss: not both.")
    if not dismiss and not choices and not text:
        raise click.UsageError("Give a CHOICE, --text TEXT, or --dismiss.")
    given: dict[str, Any] = {"choices": list(choices), "dismiss": dismiss}
    if text is not None:
        given["answer"] = read_text(text)
    try:
        result = ask_running(door, "POST", f"/api/cards/{quote(card_id(door, card), safe='')}/answer", given)
    except CommandError as error:
        if error.code == NOT_FOUND and error.way_out is None:
            error.way_out = f"To see what waits: {door.command_line('inbox')}"
        raise
    if as_json:
        write(json_line(without_envelope(result)))
    else:
        further = f". {result['note']}" if result.get("note") else ""
        chosen = ", ".join(visible(label) for label in result.get("chosen") or ())
        note(f"{result['question_id']}: {result['status']}{f': {chosen}' if chosen else ''}{further}")
    return GOOD
