"""``showcaller providers``: what sessions can run, and whether it can be used here."""

from collections.abc import Iterator, Mapping, Sequence
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
    Column("VERSION"),
    Column("AGENTS MAY START"),
    Column("NOTE", cut="end"),
)
TOLD = ("models", "modes", "efforts")


@click.command(
    "providers",
    cls=Command,
    help="""List what sessions can run, and whether it can be used.

ready: it works; available: its program is installed; missing: it is not, and
how to get it; unknown: this relay has no provider of that name. With names,
also what each offers and is known to do wrong. A name may say what to run, as
that of a session: generic:COMMAND.

An agent becomes ready with --check, which starts it, opens a conversation
without prompting it, and ends it: of each that is named, else of all that are
installed. What it tells is kept.

With names, it ends with 3 when one of them is unknown, and with 1 when one is
missing or does not pass the check.

\b
Examples:
  showcaller providers
  showcaller providers claude --check
  showcaller providers command --json
""",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--check", is_flag=True, help="Start the agents and see whether they work.")
@click.option("--json", "as_json", is_flag=True, help='Write {"providers": [...]} instead of a table.')
@home_option
@click.pass_obj
def command(door: Door, names: tuple[str, ...], check: bool, as_json: bool) -> int:
    """List providers and give the exit code."""
    listed = _listed(door, names)
    failed = _check(door, listed) if check else {}
    if check:
        listed = [
            {**row, "error": failed[row["provider"]]} if row["provider"] in failed else row
            for row in _listed(door, names)
        ]
    if as_json:
        write(json_line({"providers": listed}))
    else:
        _show(listed, with_details=bool(names))
    states = {str(provider["state"]) for provider in listed} if names else set()
    return NOT_FOUND if "unknown" in states else FAILED if failed or "missing" in states else GOOD


def _check(door: Door, listed: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """See whether the agents work that are installed; gives by name what is wrong with those that do not."""
    failed: dict[str, str] = {}
    for row in listed:
        if row.get("kind") != "acp" or row["state"] == "missing" or row["provider"] == "generic":
            continue
        provider = str(row["provider"])
        note(f"{visible(provider)}: starting it…")
        try:
            door.check_agent(door.home, provider)
        except Refusal as refusal:
            failed[provider] = refusal.error
        except RelayStartError as error:
            raise CommandError(error.message, error.way_out) from error
    return failed


def _show(listed: Sequence[Mapping[str, Any]], *, with_details: bool) -> None:
    for line in table_lines(COLUMNS, [_row(each) for each in listed], terminal_width(), coloured=coloured()):
        write(line)
    absent = 0
    for provider in listed:
        if with_details:
            for line in _details(provider):
                write(line)
        if provider.get("suggestions"):
            close = " or ".join(map(str, provider["suggestions"]))
            note(f"{visible(str(provider['provider']))}: did you mean {close}?")
        if provider.get("error"):
            note(visible(str(provider["error"])))
        if provider.get("toInstall") and (with_details or provider.get("kind") != "acp"):
            note(f"{provider['provider']}: {provider['toInstall']}")
        elif provider.get("toInstall"):
            absent += 1
    if absent:
        note(f"{absent} are not installed; showcaller providers NAME says how to get one.")


def _details(provider: Mapping[str, Any]) -> Iterator[str]:
    name = visible(str(provider["provider"]))
    for what in TOLD:
        if provider.get(what):
            yield f"{name}: {what} {visible(', '.join(map(str, provider[what])))}"
    for trap in provider.get("traps") or ():
        yield f"{name}: beware: {visible(str(trap))}"


def _listed(door: Door, names: Sequence[str]) -> list[dict[str, Any]]:
    if door.is_empty:
        return _listed_without_a_relay(door, names)
    with opened(door, read_only=True) as relay:
        try:
            return relay.providers(names)
        except Refusal as refusal:
            raise refused(refusal.to_result()) from refusal


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
        visible(str(provider.get("version") or "")),
        "" if may_start is None else "yes" if may_start else "no",
        visible(str(provider.get("note") or provider.get("label") or "")),
    )
