"""``showcaller fanouts``: the last fan-outs, with how far each is."""

from collections.abc import Mapping
from typing import Any

import click

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.ids import group_start
from showcaller.transport.doors.cli.exits import GOOD, NOT_FOUND, CommandError, refused
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import coloured, json_line, note, terminal_width, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.table import Column, table_lines
from showcaller.transport.doors.cli.times import age, local_time
from showcaller.transport.doors.cli.visible import visible

COLOURS = {"running": "green", "unfinished": "yellow"}
COLUMNS = (
    Column("GROUP"),
    Column("NAME", cut="end"),
    Column("STATE", colour=COLOURS.get),
    Column("ITEMS"),
    Column("ENDED"),
    Column("NOT DONE"),
    Column("BEGUN"),
    Column("AGE"),
)


@click.command(
    "fanouts",
    cls=Command,
    help="""List the last 20 fan-outs, newest first.

FANOUT leaves those of an id, the first six or more characters of one, or a name.

ended: each item has its result; running: the running relay has it under way;
unfinished: fanout --resume GROUP goes on with it. Of the items that ended, not
done are those that failed, were stopped or were interrupted, and how many did.

\b
Examples:
  showcaller fanouts
  showcaller fanouts 0d1v9x
  showcaller fanouts --json
""",
)
@click.argument("fanout", required=False)
@click.option("--json", "as_json", is_flag=True, help='Write {"fanouts": [...]} instead of a table.')
@home_option
@click.pass_obj
def command(door: Door, fanout: str | None, as_json: bool) -> int:
    """List fan-outs and give the exit code."""
    fanouts: list[dict[str, Any]] = []
    if not door.is_empty:
        with opened(door, read_only=True) as relay:
            try:
                fanouts = relay.list_fanouts()
            except Refusal as refusal:
                raise refused(refusal.to_result()) from refusal
    if fanout is not None:
        fanouts = _named(door, fanouts, fanout)
    if as_json:
        write(json_line({"fanouts": fanouts}))
    elif fanouts:
        _write_table(fanouts)
    else:
        note(f"No fan-out yet. To begin one: {door.command_line('fanout', 'wc -l {}')} *.md")
    return GOOD


def _named(door: Door, fanouts: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    wanted = name.strip()
    start = group_start(wanted)
    found = [
        each
        for each in fanouts
        if each["name"] == wanted or (start is not None and str(each["group"]).startswith(start))
    ]
    if not found:
        raise CommandError(
            f"None of the last fan-outs has the id or the name {name!r}.",
            f"Of an id, its first six characters are needed. To see them: {door.command_line('fanouts')}",
            NOT_FOUND,
        )
    return found


def _not_done(fanout: Mapping[str, Any]) -> str:
    """Give how many items are not done, and how those have ended."""
    ways = [f"{count:,} {status}" for status, count in fanout.get("endedAs", {}).items() if status != "done"]
    return f"{fanout['notDone']:,}" + (f" ({', '.join(ways)})" if ways else "")


def _write_table(fanouts: list[dict[str, Any]]) -> None:
    from showcaller.actors.runtime.clock import SYSTEM_CLOCK

    now = SYSTEM_CLOCK.wall()
    rows = [_row(fanout, now) for fanout in fanouts]
    for line in table_lines(COLUMNS, rows, terminal_width(), coloured=coloured()):
        write(line)


def _row(fanout: Mapping[str, Any], now: int) -> tuple[str, ...]:
    begun = str(fanout["createdAt"])
    counts = (f"{fanout['items']:,}", f"{fanout['ended']:,}", _not_done(fanout))
    return (
        str(fanout["group"]),
        visible(str(fanout["name"])),
        visible(str(fanout["state"])),
        *counts,
        local_time(begun),
        age(begun, now),
    )
