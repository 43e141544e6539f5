"""``showcaller inbox``: what agents ask, and wait for."""

from collections.abc import Iterator

import click

from showcaller.transport.doors.cli.cards import Item, waiting_cards
from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.questions import question_lines
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import visible
from showcaller.transport.doors.cli.watched import followed, reconnect_option


@click.command(
    "inbox",
    cls=Command,
    help="""List what agents ask you, and wait for.

The newest comes first. A permission is asked before an agent uses a tool of
its own, an approval before a call of it to this relay is carried out; its turn
waits until there is an answer, for 8 hours at most. With
--watch it goes on telling what is asked until it is interrupted, the newest
last, and --json writes a line for each question.

\b
Examples:
  showcaller inbox
  showcaller inbox --json
  showcaller inbox --watch
""",
)
@click.option("--watch", is_flag=True, help="Go on telling what is asked.")
@reconnect_option
@click.option("--json", "as_json", is_flag=True, help='Write {"items": [...]}, or lines of JSON.')
@home_option
@click.pass_obj
def command(door: Door, watch: bool, reconnect: float, as_json: bool) -> int:
    """List them and give the exit code."""
    if watch:
        return _watch(door, reconnect, as_json=as_json)
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


def _watch(door: Door, reconnect: float, *, as_json: bool) -> int:
    """Tell what waits, and each question that is asked after that, once."""
    told: set[str] = set()
    with opened(door, read_only=True) as relay:
        for _ in followed(relay, None, ("awaiting-input",), None, reconnect):
            items = waiting_cards(door)
            for item in reversed(items):  # the newest last, as they come
                if item["id"] in told:
                    continue
                for line in [json_line(item)] if as_json else card_lines(door, item):
                    write(line)
            told = {str(item["id"]) for item in items}
    return GOOD


def card_lines(door: Door, item: Item) -> Iterator[str]:
    """Give the lines that show a person a question, and how to answer it."""
    title = visible(str(item["title"]))
    yield f"{item['id']}  {item['kind']}  {local_time(str(item['askedAt']))}  {item['session']}  {title}"
    labels = [str(option["label"]) for option in item.get("options", ())]
    yield from question_lines(door, item, labels)
