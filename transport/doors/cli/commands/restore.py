"""``showcaller restore``: put a copy of the store back."""

import os
from pathlib import Path

import click

from showcaller.transport.doors.cli.exits import GOOD, NOT_FOUND, CommandError
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.paths import FILE
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.holder import holder, in_use
from showcaller.transport.doors.http.whereabouts import running_relay
from showcaller.transport.doors.start_error import RelayStartError


@click.command(
    "restore",
    cls=Command,
    help="""Put a copy that backup made into the data folder.

The copy is checked in full first, and stays as it is. It refuses while a relay
runs or a worker that one has left, and where the folder holds something already,
unless --force is given: then what was there is kept beside it, and its name is
told. No token of the copy lets anybody in any more (showcaller tokens new makes
others), and nothing stands allowed to agents, since both may have been revoked
after it was made. Settings are those of the copy: look at them.

\b
Examples:
  showcaller restore relay-monday.db
  showcaller restore --force relay-monday.db --json
""",
)
@click.argument("file", type=FILE)
@click.option("--force", is_flag=True, help="Put it in the place of what is there, which is kept.")
@click.option("--json", "as_json", is_flag=True, help='Write {"restored": ..., "kept": ...}.')
@home_option
@click.pass_obj
def command(door: Door, file: Path, force: bool, as_json: bool) -> int:
    """Restore and give the exit code."""
    if not os.path.lexists(file):
        raise CommandError(
            f"There is no copy {file.absolute()}. Nothing was changed.",
            f"A copy is made with: {door.command_line('backup', 'FILE')}",
            NOT_FOUND,
        )
    running = running_relay(door.home)
    if running is not None:
        raise CommandError(
            f"A relay runs on {door.home} (process {running.pid}). Nothing was changed.",
            f"Stop it first: {door.command_line('stop', '--workers')}",
        )
    if (held := holder(door.home)) is not None:
        raise CommandError(f"{in_use(door.home, held)} Nothing was changed.")
    if not door.is_empty and not force:
        raise CommandError(
            f"{door.home} holds something already. Nothing was changed.",
            "To put the copy in its place, and keep what is there beside it: --force",
        )
    try:
        kept = door.restore(door.home, file.absolute())
    except RelayStartError as error:
        raise CommandError(error.message, error.way_out) from error
    if as_json:
        told = {"restored": str(file.absolute()), "home": str(door.home)}
        write(json_line(told | ({} if kept is None else {"kept": str(kept)})))
    else:
        note(f"Restored into {door.home}")
        if kept is not None:
            note(f"What was there is kept in {kept}")
    return GOOD
