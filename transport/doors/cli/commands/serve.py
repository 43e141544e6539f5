"""``showcaller serve``: a relay that runs on its own, for all commands and programs to use."""

import contextlib
import resource
from pathlib import Path
from typing import Literal

import click

from showcaller.transport.doors.cli.exits import GOOD, CommandError, OutputLost
from showcaller.transport.doors.cli.faults import check_descriptors
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.paths import FILE
from showcaller.transport.doors.cli.relay import Door, ServeOptions
from showcaller.transport.doors.start_error import RelayStartError


@click.command(
    "serve",
    cls=Command,
    help="""Run a relay until it is stopped, for all commands to use.

It listens on 127.0.0.1 alone, and only for who has the owner's token, which is
in the file "token" of the data folder. A line on standard output says when it is
ready and where it listens; its log goes to standard error. The first Ctrl-C or
SIGTERM ends it in order, a second one at once. Sessions of agents and clients
that name no folder (cwd) work in the one where it was started.

With --log-file the log is kept within twice 8 MiB: a file that is full is moved
to its name with ".1", in the place of the one before.

\b
Examples:
  showcaller serve
  showcaller serve --port 8321 --log json --log-file /var/tmp/relay.log
""",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    show_default=True,
    help="The port to listen on; 0 takes that of the last time, or a free one.",
)
@click.option("--workers", type=click.IntRange(1, 64), help="How many workers run the sessions.")
@click.option(
    "--log",
    type=click.Choice(["text", "json"], case_sensitive=False),
    default="text",
    show_default=True,
    help="How the log is written.",
)
@click.option(
    "--log-file",
    type=FILE,
    help="Write the log into this file instead of to standard error.",
)
@click.option("--json", "as_json", is_flag=True, help='Write {"ready": ...} instead of the line of text.')
@home_option
@click.pass_obj
def command(
    door: Door,
    port: int,
    workers: int | None,
    log: Literal["text", "json"],
    log_file: Path | None,
    as_json: bool,
) -> int:
    """Serve and give the exit code."""
    from showcaller.actors.runtime.clock import SYSTEM_CLOCK
    from showcaller.transport.doors.cli.fanout.interrupts import Interrupts

    check_descriptors(resource.getrlimit(resource.RLIMIT_NOFILE)[0])

    def ready(line: str) -> None:
        with contextlib.suppress(OutputLost):  # nobody may read it, and the relay serves all the same
            write(json_line({"ready": line}) if as_json else line)

    with Interrupts(SYSTEM_CLOCK.monotonic, spares_children=True) as interrupts:
        try:
            door.serve(
                door.home, ServeOptions(port, workers, log, log_file, ready, interrupts.stop_with, note)
            )
        except RelayStartError as error:
            raise CommandError(error.message, error.way_out) from error
    return GOOD
