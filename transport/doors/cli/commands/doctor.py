"""``showcaller doctor``: what is missing, and how to mend it."""

import click

from showcaller.transport.doors.cli.exits import FAILED, GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import coloured, json_line, terminal_width, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.table import Column, table_lines
from showcaller.transport.doors.cli.visible import readable, visible

COLOURS = {"good": "green", "note": "yellow", "warn": "yellow", "mend": "red"}
COLUMNS = (Column("CHECK"), Column("STATE", colour=COLOURS.get), Column("FOUND", cut="end"))


@click.command(
    "doctor",
    cls=Command,
    help="""Say what is missing, and how to mend it.

It looks at Python, the data folder, its disk and socket path, the token, the
relay with its version and workers, the store, and the providers. Nothing is
changed. Ends with 1 when there is something to mend ("mend"), and with 0 when
all works, also with what its owner chose and is warned of ("warn").

\b
Examples:
  showcaller doctor
  showcaller doctor --json
""",
)
@click.option("--json", "as_json", is_flag=True, help='Write {"checks": [...]} instead of a table.')
@home_option
@click.pass_obj
def command(door: Door, as_json: bool) -> int:
    """Examine and give the exit code."""
    from showcaller.transport.doors.cli.doctor.examination import examine

    found = list(examine(door))
    if as_json:
        write(json_line({"checks": [finding.to_json() for finding in found]}))
    else:
        rows = [(finding.check, finding.state, visible(finding.told)) for finding in found]
        for line in table_lines(COLUMNS, rows, terminal_width(), coloured=coloured()):
            write(line)
        for finding in found:
            if finding.mend is not None:
                write(f"{finding.check}: {readable(finding.mend)}")
    return FAILED if any(finding.state == "mend" for finding in found) else GOOD
