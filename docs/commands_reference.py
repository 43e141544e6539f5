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
## When a command fails

A sentence that begins with `Error:` goes to standard error, and the way out below it. With `--json` (and
always with `call`) standard output has this object too, in the place of the result or, of JSON Lines, as the
last line:

```json
{{"ok": false, "code": "REMOTE_RELAY_NOT_FOUND", "error": "No session …", "wayOut": "To see …"}}
```

`code` is one of the [tool's](relay-tool.md); `REMOTE_RELAY_UNAVAILABLE` where no relay answers,
`REMOTE_RELAY_INVALID_INPUT` for a wrong command line, `REMOTE_RELAY_CALL_FAILED` for all that has no other. A
name that can mean several things (a session, task, question, fan-out, group or token) is a wrong command
line, exit code 2: `ambiguous` is true, and those that it can mean are listed. Of commands that take several
sessions `sessions` has what came of each, and such an object in the place of those that failed. An answer is
no failure, whatever the exit code: a turn that failed, a time that was up, `"running": false`. A command that
is interrupted (130) writes no object.
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
