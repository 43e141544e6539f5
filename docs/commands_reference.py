"""The reference of the commands, made of the help that the program itself gives."""

import re
from collections.abc import Iterator

import click

from showcaller.transport.doors.cli.group import build_group
from showcaller.transport.doors.cli.relay import OpenRelay

WIDTH = 80
HEAD = """\
# Reference: the commands

Written from the help of the program by `python -m docs.generate`; change it there. Every command takes
`--json`, and `--home` names another data folder than `SHOWCALLER_HOME` and the platform's own.
"""


def commands_reference() -> str:
    """Give the whole text."""
    group = build_group(_nothing_to_open(), "")
    sections = [_section(path, command) for path, command in _all(["showcaller"], group)]
    return "\n".join([HEAD, *sections])


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
