"""``showcaller sessions``: the conversations of the relay, as a table or as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import coloured, json_line, note, terminal_width, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.session_lists import Listed, list_sessions
from showcaller.transport.doors.cli.states import state_word, word_colour
from showcaller.transport.doors.cli.table import Column, table_lines
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import visible

COLUMNS = (
    Column("SESSION"),
    Column("STATE", colour=word_colour),
    Column("TITLE", cut="end"),
    Column("GROUP", cut="end"),
    Column("PROVIDER", cut="end"),
    Column("LAST ACTIVITY"),
)
NOTHING_YET = """Nothing here yet: {home} holds no sessions.
To start some: {start} *.md"""


@click.command(
    "sessions",
    cls=Command,
    help="""List the sessions of the relay, newest activity first.

Where there are more than --limit, standard error says so, and --json has
"more": true.

\b
Examples:
  showcaller sessions
  showcaller sessions --scope all --query deploy --limit 500 --json
""",
)
@click.option(
    "--scope",
    type=click.Choice(["active", "recent", "all"], case_sensitive=False),
    default="recent",
    show_default=True,
    help="active: at work or waiting; recent: not archived; all: archived ones too.",
)
@click.option("--query", metavar="TEXT", help="Only sessions whose title holds TEXT.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many at most.")
@click.option("--json", "as_json", is_flag=True, help='Write {"sessions": [...]} instead of a table.')
@home_option
@click.pass_obj
def command(door: Door, scope: str, query: str | None, limit: int, as_json: bool) -> int:
    """List sessions and give the exit code."""
    listed = Listed([], more=False)
    if not door.is_empty:
        with opened(door, read_only=True) as relay:
            listed = list_sessions(relay, scope=scope, query=query, limit=limit)
    if as_json:
        write(json_line({"sessions": listed.sessions} | ({"more": True} if listed.more else {})))
    elif listed.sessions:
        _write_table(listed.sessions)
        if listed.more:
            note(f"There are more than these {len(listed.sessions):,}: name a greater --limit to see them.")
    elif door.is_empty:
        start = door.command_line("fanout", "wc -l {}")
        note(NOTHING_YET.format(home=door.home, start=start))
    else:
        note("No session matches." if query else f"No session in the scope {scope!r}.")
    return GOOD


def _write_table(sessions: Sequence[Mapping[str, Any]]) -> None:
    rows = [_row(session) for session in sessions]
    for line in table_lines(COLUMNS, rows, terminal_width(), coloured=coloured()):
        write(line)


def _row(session: Mapping[str, Any]) -> tuple[str, ...]:
    group = session.get("group") or {}
    return (
        visible(str(session["id"])),
        state_word(session),
        visible(str(session.get("title") or "")),
        visible(str(group.get("name") or "")),
        visible(str(session.get("provider") or "")),
        local_time(str(session.get("lastActivityAt") or "")),
    )
