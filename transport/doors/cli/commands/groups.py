"""``showcaller groups``: the groups of sessions, made, renamed, dissolved and put into an order."""

from collections.abc import Mapping
from typing import Any, Final

import click

from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import json_line, note, terminal_width, without_envelope, write
from showcaller.transport.doors.cli.parsing import Command, Group, hand_on
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.running import ask_running
from showcaller.transport.doors.cli.table import Column, table_lines
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import visible

MOST: Final = 1000
COLUMNS: Final = (
    Column("GROUP"),
    Column("NAME", cut="end"),
    Column("SESSIONS"),
    Column("AT WORK"),
    Column("WAITING"),
    Column("MADE BY"),
    Column("LAST ACTIVITY"),
)
_as_json = click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")


@click.group(
    "groups",
    cls=Group,
    invoke_without_command=True,
    help="""List the groups of sessions, or change them.

Sessions that an agent starts join its group. A group that an agent has made
goes with its last session; one of yours stays, and is listed as empty. GROUP is
an id or a name. To put a session into a group: showcaller update --group.

\b
Examples:
  showcaller groups
  showcaller groups new 'Release 2.4'
  showcaller groups rename 'Release 2.4' 'Release 2.5'
  showcaller groups order 'Release 2.5' nightly
  showcaller groups dissolve nightly
""",
)
@click.option("--json", "as_json", is_flag=True, help='Write {"groups": [...]} instead of a table.')
@home_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    """List them and give the exit code."""
    if ctx.invoked_subcommand is not None:
        return hand_on(ctx, as_json=as_json)
    door = ctx.find_object(Door)
    assert door is not None
    found = ask_running(door, "GET", f"/api/groups?limit={MOST}")
    listed: list[dict[str, Any]] = found["groups"]
    if as_json:
        write(json_line({"groups": listed}))
        return GOOD
    if not listed:
        note(f"There are none. To make one: {door.command_line('groups', 'new', 'NAME')}")
        return GOOD
    for line in table_lines(COLUMNS, list(map(_row, listed)), terminal_width(), coloured=False):
        write(line)
    if found["groupsTotal"] > len(listed):
        note(f"and {found['groupsTotal'] - len(listed):,} more")
    return GOOD


def _row(group: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        str(group["id"]),
        visible(str(group.get("name") or "")),
        str(group["memberCount"] or "empty"),
        str(group["atWork"] or ""),
        str(group["waiting"] or ""),
        str(group["madeBy"]),
        local_time(str(group["lastActivityAt"])) if "lastActivityAt" in group else "",
    )


@command.command(
    "new",
    cls=Command,
    help="""Make a group.

\b
Examples:
  showcaller groups new 'Release 2.4'
  showcaller new --group 'Release 2.4' 'make test'
""",
)
@click.argument("name")
@_as_json
@home_option
@click.pass_obj
def new(door: Door, name: str, as_json: bool) -> int:
    """Make it and give the exit code."""
    made = ask_running(door, "POST", "/api/groups", {"name": name})
    return _told(made, f"{made['group']}: {visible(name)}", as_json=as_json)


@command.command(
    "rename",
    cls=Command,
    help="""Give a group another name.

\b
Examples:
  showcaller groups rename nightly 'Nightly checks'
""",
)
@click.argument("group")
@click.argument("name")
@_as_json
@home_option
@click.pass_obj
def rename(door: Door, group: str, name: str, as_json: bool) -> int:
    """Rename it and give the exit code."""
    done = ask_running(door, "POST", "/api/groups/rename", {"group": group, "name": name})
    return _told(done, f"{done['group']} is called {visible(name)} now", as_json=as_json)


@command.command(
    "dissolve",
    cls=Command,
    help="""Forget a group. Its sessions stay, in no group.

That of a fan-out cannot be dissolved: it keeps the results.

\b
Examples:
  showcaller groups dissolve nightly
""",
)
@click.argument("group")
@_as_json
@home_option
@click.pass_obj
def dissolve(door: Door, group: str, as_json: bool) -> int:
    """Dissolve it and give the exit code."""
    done = ask_running(door, "POST", "/api/groups/dissolve", {"group": group})
    number = done["sessions"]
    left = "1 session" if number == 1 else f"{number:,} sessions"
    return _told(done, f"{done['group']} is dissolved; {left} left it", as_json=as_json)


@command.command(
    "order",
    cls=Command,
    help="""Say which groups are listed first, and in which order.

The others follow by their newest activity. Without any none has a place of its
own any more.

\b
Examples:
  showcaller groups order 'Release 2.4' nightly
  showcaller groups order
""",
)
@click.argument("groups", nargs=-1)
@_as_json
@home_option
@click.pass_obj
def order(door: Door, groups: tuple[str, ...], as_json: bool) -> int:
    """Order them and give the exit code."""
    done = ask_running(door, "POST", "/api/groups/order", {"groups": list(groups)})
    first = ", ".join(done["groups"])
    return _told(
        done, f"listed first: {first}" if first else "listed by their newest activity", as_json=as_json
    )


def _told(result: Mapping[str, Any], told: str, *, as_json: bool) -> int:
    if as_json:
        write(json_line(without_envelope(result)))
    else:
        note(f"{told}. {result['note']}" if result.get("note") else told)
    return GOOD
