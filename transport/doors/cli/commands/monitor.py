"""``showcaller monitor``: what has happened in sessions since a cursor, and what is still to come."""

from collections.abc import Mapping
from typing import Any, Final

import click

from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, without_envelope, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.watched import (
    answered,
    event_line,
    followed,
    gap_line,
    named,
    refuse_without_relay,
    standing_line,
    watch_options,
)

_USUAL: Final = ("turn-end", "awaiting-input", "exited")


@click.command(
    "monitor",
    cls=Command,
    help="""Tell what has happened in sessions, and what is to come.

Of all sessions when none is named. With --follow it goes on until it is
interrupted, also over a restart of the relay, and --json writes a line for
each event; the first line tells how it stands.

\b
Examples:
  showcaller monitor --json
  showcaller monitor 3f9c2a1e --since 1207
  showcaller monitor --follow --until any
""",
)
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@watch_options
@click.option("--follow", is_flag=True, help="Go on telling what happens.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object, or lines of JSON.")
@home_option
@click.pass_obj
def command(
    door: Door,
    sessions: tuple[str, ...],
    until: tuple[str, ...],
    follow: bool,
    reconnect: float,
    since: int | None,
    as_json: bool,
) -> int:
    """Tell it and give the exit code."""
    if follow:
        refuse_without_relay(door)
    if door.is_empty:
        note(f"Nothing here yet: {door.home} holds no sessions.")
        if as_json:
            write(json_line(without_envelope(_nothing())))
        return GOOD
    with opened(door, read_only=True) as relay:
        chosen = list(named(relay, door, sessions)) or None
        kinds = until or _USUAL
        if not follow:
            found = relay.monitor(chosen, until=kinds, timeout=0, since=since, reconnect=reconnect)
            _write_whole(answered(found, since), as_json=as_json)
            return GOOD
        for place, answer in enumerate(followed(relay, chosen, kinds, since, reconnect)):
            _write_more(answer, as_json=as_json, is_first=place == 0)
    return GOOD


def _nothing() -> Mapping[str, Any]:
    """Give the answer of a relay in which nothing has ever happened."""
    from showcaller.actors.contract.outside.results import MonitorResult

    return MonitorResult(relay="", summary="", fired=(), pending=(), next=0).to_result()


def _write_whole(answer: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        write(json_line(without_envelope(answer)))
        return
    _write_lines(answer)
    if not answer["fired"] and not answer["pending"]:
        note("Nothing happened, and nothing is to come.")
    note(f"To go on from here: --since {answer['next']}")


def _write_more(answer: Mapping[str, Any], *, as_json: bool, is_first: bool) -> None:
    if not as_json:
        _write_lines(answer if is_first else {**answer, "pending": ()})
        return
    if is_first:
        write(json_line({"pending": answer["pending"], "next": answer["next"]}))
    if answer["gap"] is not None:
        write(json_line({"gap": answer["gap"]}))
    for event in answer["fired"]:
        write(json_line(event))


def _write_lines(answer: Mapping[str, Any]) -> None:
    if answer["gap"] is not None:
        note(gap_line(answer["gap"]))
    for event in answer["fired"]:
        write(event_line(event))
    for session in answer["pending"]:
        write(standing_line(session))
