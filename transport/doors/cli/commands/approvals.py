"""``showcaller approvals``: what stands allowed to agents, and taking it back."""

from typing import Any, Final, get_args
from urllib.parse import urlencode

import click

from showcaller.actors.contract.approvals import ApprovalKind
from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, terminal_width, without_envelope, write
from showcaller.transport.doors.cli.parsing import Command, Group, hand_on
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.running import ask_running, check_running
from showcaller.transport.doors.cli.session_names import find_session
from showcaller.transport.doors.cli.table import Column, table_lines
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import visible

PAGE: Final = 1000
COLUMNS: Final = (Column("SESSION"), Column("KIND"), Column("ALLOWED"), Column("TITLE", cut="end"))


@click.group(
    "approvals",
    cls=Group,
    invoke_without_command=True,
    help="""List what stands allowed to agents, or revoke it.

Some calls of an agent ask you once: you allow the first session that it starts,
and every later one of its conversation (create); the first change of a session
that it did not start, and later ones (settings); to watch sessions (subscribe).
What is revoked is asked for again.

\b
Examples:
  showcaller approvals
  showcaller approvals revoke 3f9c2a1e
  showcaller approvals revoke nightly create
""",
)
@click.option("--json", "as_json", is_flag=True, help='Write {"approvals": [...]} instead of a table.')
@home_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    """List them and give the exit code."""
    if ctx.invoked_subcommand is not None:
        return hand_on(ctx, as_json=as_json)
    door = ctx.find_object(Door)
    assert door is not None
    found = _approvals(door)
    if as_json:
        write(json_line({"approvals": found}))
        return GOOD
    if not found:
        note("Nothing stands allowed: agents' calls that need your approval ask for it.")
        return GOOD
    rows = [
        (str(one["session"]), str(one["kind"]), local_time(str(one["allowedAt"])), visible(str(one["title"])))
        for one in found
    ]
    for line in table_lines(COLUMNS, rows, terminal_width(), coloured=False):
        write(line)
    return GOOD


def _approvals(door: Door) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    more: dict[str, Any] = {"limit": PAGE}
    while True:
        page = ask_running(door, "GET", f"/api/approvals?{urlencode(more)}")
        found += page["approvals"]
        if page.get("nextCursor") is None:
            return found
        more["cursor"] = page["nextCursor"]


@command.command(
    "revoke",
    cls=Command,
    help="""Have what was allowed in a conversation stand no more.

SESSION is an id, the first six or more characters of one, or a title; KIND one
of create, settings and subscribe, all of them when it is left out. What runs
goes on; the next call of the kind asks again.

\b
Examples:
  showcaller approvals revoke 3f9c2a1e
  showcaller approvals revoke nightly create --json
""",
)
@click.argument("session")
@click.argument("kind", required=False, type=click.Choice(get_args(ApprovalKind)))
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@home_option
@click.pass_obj
def revoke(door: Door, session: str, kind: str | None, as_json: bool) -> int:
    """Revoke it and give the exit code."""
    check_running(door)
    with opened(door, read_only=True) as relay:
        named = find_session(relay, door, session)
    result = ask_running(door, "POST", "/api/approvals/revoke", {"session": named, "kind": kind})
    if as_json:
        write(json_line(without_envelope(result)))
    else:
        note(f"{named}: {', '.join(result['revoked'])} stands no more")
    return GOOD
