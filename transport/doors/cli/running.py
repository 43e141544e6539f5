"""Asking the relay that runs, for commands that need one."""

from collections.abc import Mapping
from typing import Any

from showcaller.actors.contract.errors import Refusal
from showcaller.transport.doors.cli.exits import CommandError, no_relay, refused
from showcaller.transport.doors.cli.output import note
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.holder import holder, in_use
from showcaller.transport.doors.http.whereabouts import Whereabouts, running_relay
from showcaller.transport.doors.start_error import RelayStartError


def check_running(door: Door) -> Whereabouts:
    """Give where the relay of the data folder listens; raises ``CommandError`` where none runs."""
    running = running_relay(door.home)
    if running is None:
        raise absent(door)
    return running


def absent(door: Door) -> CommandError:
    """Give the error where no relay listens on the data folder: none runs, or it is starting or ending."""
    held = holder(door.home)
    if held is not None:
        return no_relay(in_use(door.home, held))
    return no_relay(f"No relay runs on {door.home}.", f"To start one: {door.command_line('serve')}")


def ask_running(door: Door, method: str, path: str, body: Any = None) -> Mapping[str, Any]:
    """Ask the relay of the data folder as its owner, and give the answer.

    Raises ``CommandError``: none runs, and how to start one; or it refused.
    """
    running = check_running(door)
    from showcaller.transport.doors.http.channel import Channel, RelayGone

    try:
        channel = Channel(door.home, running, note)
    except RelayStartError as error:
        raise CommandError(error.message, error.way_out) from error
    try:
        return channel.asked(method, path, body)
    except RelayGone as gone:
        raise no_relay(str(gone)) from gone
    except Refusal as refusal:
        raise refused(refusal.to_result()) from refusal
    finally:
        channel.close()
