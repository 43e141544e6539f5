"""The reference of the commands, made of the help that the program itself gives."""

import re
import textwrap
from collections.abc import Iterator

import click

from showcaller.transport.doors.cli.group import COMMANDS, NEED_A_RELAY, NEED_A_RELAY_WITH, build_group
from showcaller.transport.doors.cli.relay import OpenRelay

WIDTH = 80
HEAD = """\
# Reference: the commands

Written from the help of the program by `python -m docs.generate`; change it there. Every command takes
`--json`, and `--home` names another data folder than `SHOWCALLER_HOME` and the platform's own.

{needing_a_relay}
"""
NEEDING = """\
A relay has to run ([`showcaller serve`](../guides/run-as-a-service.md)) for {always}, and for {with_option};
`status` and `stop` say whether one does. All other commands use the relay that runs, and where none does they
open the data folder themselves.
"""


def commands_reference() -> str:
    """Give the whole text."""
    group = build_group(_nothing_to_open(), "")
    sections = [_section(path, command) for path, command in _all(["showcaller"], group)]
    always = _listed([f"`{name}`" for name in COMMANDS if name in NEED_A_RELAY])
    with_option = _listed([f"`{name} {option}`" for name, option in NEED_A_RELAY_WITH.items()])
    told = textwrap.fill(NEEDING.format(always=always, with_option=with_option), 115, break_on_hyphens=False)
    return "\n".join([HEAD.format(needing_a_relay=told), *sections])


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _nothing_to_open() -> OpenRelay:
    def open_relay(home: object, *, read_only: bool) -> object:
        raise NotImplementedError(f"help opens no relay, {home}, {read_only}")

    return open_relay  # type: ignore[return-value]  # it is never called


def _all(path: list[str], command: click.Command) -> Iterator[tuple[list[str], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _all([*path, name], below)


def _section(path: list[str], command: click.Command) -> str:
    parent: click.Context | None = None
    for name in path[:-1]:
        parent = click.Context(click.Group(name), info_name=name, parent=parent)
    context = click.Context(
        command,
        info_name=path[-1],
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    text = click.unstyle(command.get_help(context))
    lines = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    return f"{'#' * min(4, len(path) + 1)} {' '.join(path)}\n\n```text\n{lines}\n```\n"
