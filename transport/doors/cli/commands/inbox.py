"""``showcaller inbox``: what agents ask, and wait for."""

from collections.abc import Iterator

import click

from showcaller.transport.doors.cli.cards import Item, waiting_cards
from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import readable, visible


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
    yield f"  {readable(str(item['question']))}"
    for line in readable(str(item.get("detail") or "")).splitlines():
        yield f"    {line}"
    for option in item.get("options", ()):
        yield f"  - {visible(str(option['label']))}"
    yield f"  {_way_to_answer(door, item)}"


def _way_to_answer(door: Door, item: Item) -> str:
    if item.get("form"):
        return (
            f"A form, which cannot be filled in here. {door.command_line('answer', item['id'], '--dismiss')}"
        )
    options = item.get("options", ())
    given = [visible(str(options[0]["label"]))] if options else ["--text", "..."]
    more = " (several may be given)" if item.get("multiSelect") else ""
    more += " (or --text ...)" if options and item.get("allowFreeform") else ""
    return f"To answer: {door.command_line('answer', item['id'], *given)}{more}"
