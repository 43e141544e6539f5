"""How a command that failed tells of it: a sentence on standard error, and with ``--json`` an object too."""

import contextlib
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Any, Final

import click

from showcaller.actors.contract.errors import Code
from showcaller.transport.doors.cli.exits import USAGE, CommandError, Interrupted, OutputLost
from showcaller.transport.doors.cli.output import has_written, json_line, note, write
from showcaller.transport.doors.cli.signals import INTERRUPTED

JSON_ALWAYS: Final = frozenset({"call"})
"""Commands that write JSON whether asked or not."""
JSON_NEVER: Final = frozenset({"mcp"})
"""Commands whose standard output carries a protocol of its own."""


FOLLOWING: Final = frozenset({"--follow", "--watch"})
"""Options with which a command goes on until a signal ends it: that is no failure of it."""


def wants_json(words: Sequence[str], commands: Sequence[str]) -> bool:
    """Whether a command line, of a program that has these commands, asks for JSON. Pure."""
    options = list(takewhile(lambda word: word != "--", words))
    command = next((word for word in options if word in commands), "")
    if command in JSON_ALWAYS | JSON_NEVER:
        return command in JSON_ALWAYS
    given = {word.lower() for word in options}
    pairs = {(first, second.lower()) for first, second in pairwise(options)}
    return "--json" in given or "--format=jsonl" in given or ("--format", "jsonl") in pairs


def failed(error: click.ClickException, *, as_json: bool) -> int:
    """Tell of a command that failed, and give its exit code; raises ``OutputLost``."""
    error.show()
    if as_json:
        write(json_line(failure_object(error)))
    return error.code if isinstance(error, CommandError) else int(error.exit_code)


def interrupted(error: KeyboardInterrupt, arguments: Sequence[str], commands: Sequence[str]) -> int:
    """Tell of a command that a signal has ended, and give its exit code.

    Where one JSON object was asked for and none is written yet, that says so, as of a command that failed.
    """
    left = error if isinstance(error, Interrupted) else None
    if left is not None:
        note(left.way_out)
    note("Interrupted.")
    if wants_json(arguments, commands) and not has_written() and FOLLOWING.isdisjoint(arguments):
        told = {"ok": False, "code": str(Code.CANCELLED), "error": "The command was interrupted."}
        further = {} if left is None else {"wayOut": left.way_out, **left.further}
        with contextlib.suppress(OutputLost):  # of the signal standard error has told
            write(json_line(told | further))
    return INTERRUPTED


def failure_object(error: click.ClickException) -> dict[str, Any]:
    """Give what ``--json`` writes of an error: ``ok``, ``code``, ``error``, ``wayOut`` and what is known."""
    if not isinstance(error, CommandError):
        error = CommandError(error.format_message(), code=USAGE)
    return error.to_result()
