"""``showcaller settings``: list what the owner can set, give one value, set one."""

import json
import re
from collections.abc import Mapping
from typing import Any

import click

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.provider_entries import ProviderCatalogue
from showcaller.actors.contract.setting_facts import setting_facts
from showcaller.actors.contract.settings import (
    DEFAULTS,
    NOTHING_SET,
    UNSAFE,
    Settings,
    Value,
    check_setting,
    check_setting_name,
)
from showcaller.transport.doors.cli.exits import GOOD, USAGE, CommandError, refused
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import coloured, json_line, note, terminal_width, write
from showcaller.transport.doors.cli.parsing import Command, Group, hand_on
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.table import Column, table_lines
from showcaller.transport.doors.providers_at_home import catalogue_at
from showcaller.transport.doors.start_error import RelayStartError

COLUMNS = (Column("SETTING", cut="end"), Column("VALUE"), Column("DEFAULT"), Column("TAKES"))
SWITCHES = {"on": True, "off": False, "true": True, "false": False, "yes": True, "no": False}
SHOWN = 80
"""Characters of a wrong value that are said again."""


@click.group(
    "settings",
    cls=Group,
    invoke_without_command=True,
    help="""List the settings of the relay, or get or set one.

A setting holds from now on, and for every later relay of the data folder. Those
that are switches take on and off, lists take their texts with commas between
(or a JSON array); "default" goes back to the default. Under each stands what it
is for.

\b
Examples:
  showcaller settings
  showcaller settings get longest_wait_minutes
  showcaller settings set agent_sessions on
  showcaller settings set providers.command.agents_may_start on
  showcaller settings set clone_hosts github.com,git.example.org
""",
)
@click.option("--json", "as_json", is_flag=True, help='Write {"settings": [...]} instead of a table.')
@home_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    """List settings and give the exit code."""
    if ctx.invoked_subcommand is not None:
        return hand_on(ctx, as_json=as_json)
    door = ctx.find_object(Door)
    assert door is not None
    entries = _providers(door)
    values = _in_force(door).values(entries)
    _warn(values)
    if as_json:
        rows = [fact.told() | {"value": values[fact.name]} for fact in setting_facts(entries)]
        write(json_line({"settings": rows}))
    else:
        _write_table(values, entries)
    return GOOD


def _write_table(values: Mapping[str, Any], entries: ProviderCatalogue) -> None:
    facts = setting_facts(entries)
    rows = [(fact.name, word(values[fact.name]), word(fact.default), fact.takes) for fact in facts]
    titles, *lines = table_lines(COLUMNS, rows, terminal_width(), coloured=coloured())
    write(titles)
    for fact, line in zip(facts, lines, strict=True):
        write(line)
        write(f"  {fact.description}")


@command.command(
    "get",
    cls=Command,
    help="""Write the value of a setting.

\b
Example:
  showcaller settings get agent_sessions
""",
)
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help='Write {"name": ..., "value": ...}.')
@home_option
@click.pass_obj
def get(door: Door, name: str, as_json: bool) -> int:
    """Give one setting and the exit code."""
    entries = _providers(door)
    known = _known(name, entries, "")
    value = _in_force(door).values(entries)[known]
    write(json_line({"name": name, "value": value}) if as_json else word(value))
    return GOOD


@command.command(
    "set",
    cls=Command,
    help="""Set a setting: a number, on or off, a list, or default.

\b
Examples:
  showcaller settings set agent_sessions on
  showcaller settings set max_turn_minutes default
  showcaller settings set allowed_folders /srv/work,/srv/projects
""",
)
@click.argument("name")
@click.argument("value")
@click.option("--json", "as_json", is_flag=True, help='Write {"name": ..., "value": ...}.')
@home_option
@click.pass_obj
def set_(door: Door, name: str, value: str, as_json: bool) -> int:
    """Set one setting and give the exit code."""
    entries = _providers(door)
    wanted = read_value(_known(name, entries), value, entries)
    _check(name, wanted, entries)
    try:
        with opened(door, read_only=False) as relay:
            in_force = relay.set_setting(name, wanted).values(entries)[name]
    except Refusal as refusal:
        raise refused(refusal.to_result()) from refusal
    if as_json:
        write(json_line({"name": name, "value": in_force}))
    else:
        note(f"{name} is {word(in_force)}.")
    _warn({name: in_force})
    return GOOD


def _warn(values: Mapping[str, Any]) -> None:
    if values.get("unsafe_no_cards"):
        note(f"{UNSAFE}.")


def _providers(door: Door) -> ProviderCatalogue:
    """Give what sessions of this data folder can run: each has a switch."""
    try:
        return catalogue_at(door.home)
    except RelayStartError as error:
        raise CommandError(error.message, error.way_out) from error


def _in_force(door: Door) -> Settings:
    if door.is_empty:
        return DEFAULTS
    try:
        with opened(door, read_only=True) as relay:
            return relay.settings()
    except Refusal as refusal:
        raise refused(refusal.to_result()) from refusal


def _known(name: str, entries: ProviderCatalogue, nothing: str = NOTHING_SET) -> str:
    try:
        return check_setting_name(name, entries, nothing)
    except Refusal as refusal:
        raise CommandError(refusal.error, code=USAGE) from refusal


def _check(name: str, value: Value | None, entries: ProviderCatalogue) -> None:
    try:
        check_setting(name, value, entries)
    except Refusal as refusal:
        raise CommandError(refusal.error, code=USAGE) from refusal


def read_value(name: str, typed: str, entries: ProviderCatalogue) -> Value | None:
    """Give the value that a person means for a setting; raises ``click.UsageError`` for what is none."""
    word_typed = typed.strip().lower()
    if word_typed == "default":
        return None
    default = DEFAULTS.values(entries)[name]
    if isinstance(default, tuple):
        return _read_list(name, typed)
    if isinstance(default, bool):
        if word_typed in SWITCHES:
            return SWITCHES[word_typed]
        raise click.UsageError(f"{name} is a switch: give on or off, not {typed!r}.")
    if re.fullmatch(r"[0-9]{1,12}", word_typed):
        return int(word_typed)
    takes = next(fact.takes for fact in setting_facts() if fact.name == name)
    shown = quote_foreign(typed, SHOWN)
    raise click.UsageError(f"{name} is a whole number from {takes}, not {shown}.")


def _read_list(name: str, typed: str) -> tuple[str, ...]:
    """Give the texts that somebody has typed with commas between, or as a JSON array."""
    if not typed.lstrip().startswith("["):
        return tuple(text.strip() for text in typed.split(",") if text.strip())
    try:
        told = json.loads(typed)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{name} takes texts with commas between, or a JSON array.") from error
    if not all(isinstance(text, str) for text in told):
        raise click.UsageError(f"{name} takes a JSON array of texts, and one of these is none.")
    return tuple(told)


def word(value: Value) -> str:
    """Give how a person reads a value."""
    if isinstance(value, tuple):
        return ",".join(value) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
