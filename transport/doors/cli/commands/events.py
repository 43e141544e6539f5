"""``showcaller events``: the log of events from a cursor on."""

from collections import deque
from collections.abc import Mapping
from typing import Any

import click

from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.watched import (
    answered,
    event_line,
    followed,
    gap_line,
    reconnect_option,
    refuse_without_relay,
    since_option,
)

PAGE = 1000


@click.command(
    "events",
    cls=Command,
    help="""List what has happened in all sessions, oldest first.

--limit gives the last ones, and with --since those that come next after it.

--json writes a line for each event, a line with "gap" where older ones are not
kept any more, and at the end a line with the cursor "next".

\b
Examples:
  showcaller events --limit 20
  showcaller events --since 1207 --json
  showcaller events --since 1207 --follow
""",
)
@since_option
@click.option("--limit", type=click.IntRange(min=1), help="How many at most; all when left out.")
@click.option("--follow", is_flag=True, help="Go on telling what happens; --limit does not count then.")
@reconnect_option
@click.option("--json", "as_json", is_flag=True, help="Write lines of JSON.")
@home_option
@click.pass_obj
def command(
    door: Door, since: int | None, limit: int | None, follow: bool, reconnect: float, as_json: bool
) -> int:
    """List events and give the exit code."""
    begin = since or 0
    if follow:
        refuse_without_relay(door)
    if door.is_empty:
        note(f"Nothing here yet: {door.home} holds no sessions.")
        if as_json:
            write(json_line({"next": 0}))
        return GOOD
    with opened(door, read_only=True) as relay:
        if follow:
            for answer in followed(relay, None, ("any",), begin, reconnect):
                _write_page(answer["gap"], answer["fired"], as_json=as_json)
        if since is None and limit is not None:
            cursor = _write_last(relay, limit, as_json=as_json)
        else:
            cursor = _write_all(relay, begin, limit, as_json=as_json)
    if as_json:
        write(json_line({"next": cursor}))
    else:
        note(f"To go on from here: --since {cursor}")
    return GOOD


def _write_all(relay: LocalRelay, since: int, limit: int | None, *, as_json: bool) -> int:
    left = limit
    while True:
        page = answered(relay.events(since, PAGE if left is None else min(left, PAGE)), since)
        _write_page(page["gap"], page["events"], as_json=as_json)
        since = page["next"]
        left = None if left is None else left - len(page["events"])
        if left == 0 or not page["more"]:
            return since


def _write_last(relay: LocalRelay, limit: int, *, as_json: bool) -> int:
    """Write the newest events; cursors may be missing, so it goes back further until there are enough."""
    newest: int = answered(relay.monitor(until=("any",), timeout=0))["next"]
    reach = limit
    while True:
        since = begin = max(0, newest - reach)
        last: deque[Mapping[str, Any]] = deque(maxlen=limit)
        gap, more = None, True
        while more:
            page = answered(relay.events(since, PAGE), since)
            gap = page["gap"] if since == begin else gap
            last.extend(page["events"])
            since, more = page["next"], page["more"]
        if len(last) == limit or not begin:
            _write_page(gap if len(last) < limit else None, list(last), as_json=as_json)
            return since
        reach *= 4


def _write_page(gap: int | None, events: list[Mapping[str, Any]], *, as_json: bool) -> None:
    if gap is not None and as_json:
        write(json_line({"gap": gap}))
    elif gap is not None:
        note(gap_line(gap))
    for event in events:
        write(json_line(event) if as_json else event_line(event))
