"""``showcaller subscriptions``: which conversations watch what, and how one of these is ended."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import click

from showcaller.transport.doors.cli.exits import GOOD, NOT_FOUND, CommandError, checked
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, terminal_width, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.session_names import find_session, refuse_empty
from showcaller.transport.doors.cli.table import Column, table_lines
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import visible

COLUMNS: Final = (
    Column("SUBSCRIPTION"),
    Column("WATCHER", cut="end"),
    Column("WATCHES", cut="end"),
    Column("OPTIONS", cut="end"),
    Column("HELD"),
    Column("NEXT"),
)


@click.command(
    "subscriptions",
    cls=Command,
    help="""List which conversations watch what, or end one of these.

Agents make subscriptions with their tool, the first one of a conversation with
your leave. SESSION leaves those of one conversation: an id, the first six or
more characters of one, or a title. One that has ended stays listed for an hour,
where SESSION names its conversation.

\b
Examples:
  showcaller subscriptions
  showcaller subscriptions 'Release 2.4' --json
  showcaller subscriptions --end sub_ab12cd34ef56
""",
)
@click.argument("session", required=False)
@click.option("--end", metavar="SUBSCRIPTION", help="End this one: it wakes nobody any more.")
@click.option("--json", "as_json", is_flag=True, help='Write {"subscriptions": [...]} instead of a table.')
@home_option
@click.pass_obj
def command(door: Door, session: str | None, end: str | None, as_json: bool) -> int:
    """List them, or end one, and give the exit code."""
    if session is not None and end is not None:
        raise click.UsageError("--end names a subscription of whatever conversation: leave SESSION out.")
    if end is not None:
        return _end(door, end, as_json=as_json)
    listed = _listed(door, session)
    if as_json:
        write(json_line({"subscriptions": listed}))
    elif not listed:
        note("Nobody watches anything." if session is None else "It watches nothing.")
    else:
        for line in table_lines(COLUMNS, list(map(_row, listed)), terminal_width(), coloured=False):
            write(line)
    return GOOD


def _listed(door: Door, session: str | None) -> list[dict[str, Any]]:
    if door.is_empty:
        if session is not None:
            refuse_empty(door, session)
        return []
    with opened(door, read_only=True) as relay:
        asked: dict[str, Any] = {"action": "list_subscriptions"}
        if session is not None:
            asked["watcher"] = find_session(relay, door, session)
        result = checked(relay.call(asked))
    if "note" in result:
        note(str(result["note"]))
    found: list[dict[str, Any]] = result["subscriptions"]
    return found


def _end(door: Door, subscription: str, *, as_json: bool) -> int:
    if door.is_empty:
        raise CommandError(f"No subscription {subscription!r}: {door.home} holds none.", code=NOT_FOUND)
    with opened(door, read_only=False) as relay:
        result = checked(relay.call({"action": "unsubscribe", "subscription_id": subscription}))
    ended: list[str] = result["unsubscribed"]
    if as_json:
        write(json_line({"unsubscribed": ended}))
    else:
        note(f"{', '.join(ended)} has ended.")
    return GOOD


def _row(subscription: Mapping[str, Any]) -> tuple[str, ...]:
    watcher = subscription.get("watcher") or {}
    sessions = subscription["sessions"]
    watches = "every session" if sessions == "all" else ", ".join(each["title"] for each in sessions)
    ended = subscription.get("endReason")
    following = subscription.get("nextDeliveryAt")
    return (
        visible(str(subscription["id"])),
        visible(str(watcher.get("title") or "")),
        visible(watches),
        f"ended ({ended})" if ended else visible(", ".join(_options(subscription))),
        str(subscription.get("heldCount") or ""),
        "" if following is None else local_time(str(following)),
    )


def _options(subscription: Mapping[str, Any]) -> Iterator[str]:
    """Say what a subscription asks for beside what every one does."""
    if subscription["once"]:
        yield "once"
    if subscription.get("match"):
        yield f"matches {', '.join(subscription['match'])}"
    if minutes := subscription.get("heartbeatMinutes"):
        yield f"heartbeat every {minutes} min"
    if minutes := subscription.get("digestMinutes"):
        yield f"digest every {minutes} min"
    if quiet := subscription.get("quietHours"):
        yield f"quiet {quiet['from']}–{quiet['to']} {quiet['tz']}"
    if left_out := subscription.get("exclude"):
        yield f"except {len(left_out)}"
