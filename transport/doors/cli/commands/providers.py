"""``showcaller providers``: what sessions can run, and whether it can be used here."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from showcaller.actors.contract.errors import Refusal
from showcaller.transport.doors.cli.exits import FAILED, GOOD, NOT_FOUND, CommandError, refused
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import coloured, json_line, note, terminal_width, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.table import Column, table_lines
from showcaller.transport.doors.cli.visible import visible
from showcaller.transport.doors.start_error import RelayStartError

COLOURS = {"ready": "green", "available": "green", "missing": "red", "unknown": "red"}
COLUMNS = (
    Column("PROVIDER"),
    Column("STATE", colour=COLOURS.get),
    Column("KIND"),
    Column("AGENTS MAY START"),
    Column("NOTE", cut="end"),
)


@click.command(
    "providers",
    cls=Command,
    help="""List what sessions can run, and whether it can be used.

ready: it works; available: its program is installed; missing: it is not, and
how to get it; unknown: this relay has no provider of that name.

With names, it ends with 3 when one of them is unknown, and with 1 when one is
missing.

\b
Examples:
  showcaller providers
  showcaller providers command --json
""",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help='Write {"providers": [...]} instead of a table.')
@home_option
@click.pass_obj
def command(door: Door, names: tuple[str, ...], as_json: bool) -> int:
    """List providers and give the exit code."""
    listed = _listed(door, names)
    if as_json:
        write(json_line({"providers": listed}))
    else:
        rows = [_row(provider) for provider in listed]
        for line in table_lines(COLUMNS, rows, terminal_width(), coloured=coloured()):
            write(line)
        for provider in listed:
            if provider.get("toInstall"):
                note(f"{provider['provider']}: {provider['toInstall']}")
    states = {str(provider["state"]) for provider in listed} if names else set()
    return NOT_FOUND if "unknown" in states else FAILED if "missing" in states else GOOD


def _listed(door: Door, names: Sequence[str]) -> list[dict[str, Any]]:
    if door.is_empty:
        return _listed_without_a_relay(door, names)
    with opened(door, read_only=True) as relay:
        try:
            return relay.providers(names)
        except Refusal as refusal:
            raise refused(refusal.code, refusal.error) from refusal


def _listed_without_a_relay(door: Door, names: Sequence[str]) -> list[dict[str, Any]]:
    import shutil

    from showcaller.actors.contract.provider_states import provider_list
    from showcaller.actors.contract.settings import DEFAULTS
    from showcaller.transport.doors.providers_at_home import catalogue_at, handshakes_at

    try:
        catalogue = catalogue_at(door.home)
    except RelayStartError as error:
        raise CommandError(error.message, error.way_out) from error
    found = provider_list(catalogue, DEFAULTS, names, shutil.which, handshakes_at(door.home))
    return list(found.model_dump(mode="json", by_alias=True)["providers"])


def _row(provider: Mapping[str, Any]) -> tuple[str, ...]:
    may_start = provider.get("agentsMayStart")
    return (
        visible(str(provider["provider"])),
        visible(str(provider["state"])),
        visible(str(provider.get("kind") or "")),
        "" if may_start is None else "yes" if may_start else "no",
        visible(str(provider.get("note") or "")),
    )
