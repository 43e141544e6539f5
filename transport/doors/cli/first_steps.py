"""What ``showcaller`` alone says: what there is, and what to do first."""

from typing import Final

from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.output import write
from showcaller.transport.doors.cli.relay import Door

WIDTH: Final = 44


def tell_first_steps(door: Door) -> int:
    """Tell a person what to do first, and give the exit code."""
    for line in first_steps(door):
        write(line)
    return GOOD


def first_steps(door: Door) -> list[str]:
    """Give the lines."""
    from showcaller.transport.doors.http.whereabouts import running_relay

    running = running_relay(door.home)
    relay = "none runs" if running is None else f"{running.address} (process {running.pid})"
    there = "nothing there yet" if door.is_empty else "in use"
    steps = [
        (("serve",), "run a relay, and leave it running"),
        (("new", "make test"), "start a session with a first prompt"),
        (("fanout", "wc -l {}", "README.md"), "run a command once for each item"),
        (("sessions",), "see what there is"),
        (("doctor",), "see what is missing, and how to mend it"),
        (("--help",), "every command"),
    ]
    if running is not None:
        steps = steps[1:]
    lines = [f"  {door.command_line(*words):<{WIDTH}}  {why}" for words, why in steps]
    return [
        "Showcaller runs many sessions at once, and keeps what became of them.",
        "",
        f"Data folder: {door.home} ({there})",
        f"Relay: {relay}",
        "",
        "To begin:",
        *lines,
    ]
