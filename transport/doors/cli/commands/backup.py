"""``showcaller backup``: a copy of all that the relay keeps, in one file."""

from pathlib import Path

import click

from showcaller.actors.contract.errors import Refusal
from showcaller.transport.doors.cli.exits import GOOD, NOT_FOUND, CommandError, refused
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.paths import FILE
from showcaller.transport.doors.cli.relay import Door


@click.command(
    "backup",
    cls=Command,
    help="""Copy all that the relay keeps into one file.

The copy is as things were at one moment, also while a relay works; the file is
for its owner alone, and is there whole or not at all. It holds no token.
showcaller restore puts it back.

\b
Examples:
  showcaller backup relay-monday.db
  showcaller backup --replace /mnt/backups/relay.db --json
""",
)
@click.argument("file", type=FILE)
@click.option("--replace", is_flag=True, help="Replace the file if it is there.")
@click.option("--json", "as_json", is_flag=True, help='Write {"file": ...}.')
@home_option
@click.pass_obj
def command(door: Door, file: Path, replace: bool, as_json: bool) -> int:
    """Copy and give the exit code."""
    if door.is_empty:
        raise CommandError(f"There is nothing to copy: {door.home} holds no store.", code=NOT_FOUND)
    with opened(door, read_only=True) as relay:
        try:
            made = relay.back_up(file.absolute(), replace=replace)
        except Refusal as refusal:
            way_out = (
                "To replace it: --replace" if "exists already" in refusal.error and not replace else None
            )
            raise refused(refusal.to_result(), way_out) from refusal
    if as_json:
        write(json_line({"file": str(made)}))
    else:
        note(f"Copied to {made}")
    return GOOD
