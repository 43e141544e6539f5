"""``showcaller stop``: end the relay of the data folder in order."""

import os
import select
from collections.abc import Mapping

import click

from showcaller.actors.contract.errors import Refusal
from showcaller.transport.doors.cli.exits import GOOD, CommandError, no_relay, refused
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.holder import holder, in_use
from showcaller.transport.doors.http.whereabouts import Whereabouts, running_relay
from showcaller.transport.doors.start_error import RelayStartError
from showcaller.transport.worker.process_identity import is_alive

PATIENCE = 120.0
LOOK = 0.1
"""Seconds between two looks where the end of a process cannot be waited for."""


@click.command(
    "stop",
    cls=Command,
    help="""End the relay of the data folder, and wait for that.

What it has under way goes on in its workers, and the relay that is started next
takes it over. With --workers it is interrupted and stored as that; fan-outs can
be gone on with. Ends with 3 when no relay runs; --workers still ends those that
one has left, and with 0 if there were any.

\b
Examples:
  showcaller stop
  showcaller stop --workers
""",
)
@click.option("--workers", is_flag=True, help="End its workers too, and what they run.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help='Write {"stopped": PROCESS, "goesOn": ...}, with --workers "interrupted", or {"workers": NUMBER} '
    "without a relay.",
)
@home_option
@click.pass_obj
def command(door: Door, workers: bool, as_json: bool) -> int:
    """Stop the relay and give the exit code."""
    running = running_relay(door.home)
    if running is None:
        held = holder(door.home)
        if held is not None:
            raise no_relay(in_use(door.home, held))
        if not workers:
            raise no_relay(f"No relay runs on {door.home}.")
        return _end_left(door, as_json=as_json)
    under_way, staying = _ask(door, running, workers=workers)
    if not _ended(running, PATIENCE):
        raise CommandError(
            f"The relay (process {running.pid}) has not ended within {PATIENCE:g} seconds.",
            f"To end it at once: kill -9 {running.pid}. What is stored stays.",
        )
    if as_json:
        write(json_line({"stopped": running.pid, "interrupted" if workers else "goesOn": under_way}))
        return GOOD
    note(f"The relay (process {running.pid}) has ended.")
    if any(under_way.values()):
        note(_cut(under_way) if workers else _left_running(door, under_way))
    elif staying and not workers:
        stay = f"{_workers(staying)} {'stays' if staying == 1 else 'stay'} for the relay that is started next"
        note(f"{stay}, with nothing to do. {_to_end(door, staying)}")
    return GOOD


def _cut(under_way: Mapping[str, int]) -> str:
    """Say what has ended with the workers of a relay."""
    was = "was" if sum(under_way.values()) == 1 else "were"
    return f"{_counted(under_way)} {was} interrupted, and ended with its workers."


def _left_running(door: Door, under_way: Mapping[str, int]) -> str:
    """Say what the workers of a relay go on with that has ended, and how to end them."""
    count = sum(under_way.values())
    goes_on = f"{_counted(under_way)} {'goes on' if count == 1 else 'go on'} in its workers"
    return f"{goes_on}, and the relay that is started next takes over. {_to_end(door, count)}"


def _to_end(door: Door, count: int) -> str:
    return f"To end {'it' if count == 1 else 'them'}: {door.command_line('stop', '--workers')}"


def _counted(under_way: Mapping[str, int]) -> str:
    tasks = ("task in the background", "tasks in the background")
    kinds = ((under_way["turns"], ("turn", "turns")), (under_way["tasks"], tasks))
    return " and ".join(f"{count:,} {one if count == 1 else many}" for count, (one, many) in kinds if count)


def _end_left(door: Door, *, as_json: bool) -> int:
    """End the workers that a relay has left."""
    try:
        ended, left = door.end_workers(door.home)
    except RelayStartError as error:
        raise CommandError(error.message, error.way_out) from error
    if left:
        raise CommandError(
            f"{_workers(len(left))} without a relay did not end when told to: process"
            f" {', '.join(map(str, left))}.",
            f"To end them at once: kill -9 {' '.join(map(str, left))}. What they run ends with them.",
        )
    if not ended:
        raise no_relay(f"No relay runs on {door.home}.")
    if as_json:
        write(json_line({"workers": ended}))
    else:
        told = f"{_workers(ended)} that one had left {'has' if ended == 1 else 'have'} ended."
        note(f"No relay runs on {door.home}. {told}")
    return GOOD


def _workers(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"


def _ask(door: Door, running: Whereabouts, *, workers: bool) -> tuple[dict[str, int], int]:
    """Have the relay end, and give how many turns and tasks it had under way, and how many workers."""
    from showcaller.transport.doors.http.channel import ANSWER_SECONDS, Channel, RelayGone

    try:
        channel = Channel(door.home, running, note)
    except RelayStartError as error:
        raise CommandError(error.message, error.way_out) from error
    try:
        status = channel.asked("GET", "/api/status", seconds=ANSWER_SECONDS)
        under_way = {"turns": status["turns"]["running"], "tasks": status.get("tasks", {}).get("running", 0)}
        channel.asked("POST", "/api/stop", {"workers": workers}, seconds=ANSWER_SECONDS)
    except RelayGone as gone:
        if is_alive(running.process):
            raise CommandError(str(gone), f"To end it at once: kill -9 {running.pid}") from gone
        return {"turns": 0, "tasks": 0}, 0
    except Refusal as refusal:
        raise refused(refusal.to_result()) from refusal
    finally:
        channel.close()
    return under_way, sum(1 for worker in status.get("workers", ()) if worker["pid"] is not None)


def _ended(running: Whereabouts, seconds: float) -> bool:
    """Wait for the end of the process; False when it has none within so many seconds."""
    try:
        descriptor = os.pidfd_open(running.pid)
    except ProcessLookupError:
        return True
    except (AttributeError, OSError):  # not Linux, or a kernel or sandbox without it
        return _seen_ended(running, seconds)
    try:
        # The id may have been another's by the time it was opened.
        return not is_alive(running.process) or bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def _seen_ended(running: Whereabouts, seconds: float) -> bool:
    """Look again and again for the end of the process; False when it has none within so many seconds."""
    for _ in range(int(seconds / LOOK)):
        if not is_alive(running.process):
            return True
        select.select([], [], [], LOOK)
    return not is_alive(running.process)
