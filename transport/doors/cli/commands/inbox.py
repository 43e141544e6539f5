"""``showcaller inbox``: what agents ask, and wait for."""

from collections.abc import Iterator

import click

from showcaller.transport.doors.cli.cards import Item, waiting_cards
from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.questions import question_lines
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import visible


@click.command(
    "inbox",
    cls=Command,
    help="""List the questions of agents that wait for an answer.

The newest comes first. A permission is asked before an agent uses a tool of
its own; its turn waits until there is an answer, for 8 hours at most.

\b
Examples:
  showcaller inbox
  showcaller inbox --json
""",
)
@click.option("--json", "as_json", is_flag=True, help='Write {"items": [...]}.')
@home_option
@click.pass_obj
def command(door: Door, as_json: bool) -> int:
    """List them and give the exit code."""
    items = waiting_cards(door)
    if as_json:
        write(json_line({"items": items}))
        return GOOD
    if not items:
        note("Nothing waits for an answer.")
    for item in items:
        for line in card_lines(door, item):
            write(line)
    return GOOD


def card_lines(door: Door, item: Item) -> Iterator[str]:
    """Give the lines that show a person a question, and how to answer it."""
    title = visible(str(item["title"]))
    yield f"{item['id']}  {item['kind']}  {local_time(str(item['askedAt']))}  {item['session']}  {title}"
    labels = [str(option["label"]) for option in item.get("options", ())]
    yield from question_lines(door, item, labels)
