"""How a command that failed tells of it: a sentence on standard error, and with ``--json`` an object too."""

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Any, Final

import click

from showcaller.transport.doors.cli.exits import USAGE, CommandError
from showcaller.transport.doors.cli.output import json_line, write

JSON_ALWAYS: Final = frozenset({"call"})
"""Commands that write JSON whether asked or not."""
JSON_NEVER: Final = frozenset({"mcp"})
"""Commands whose standard output carries a protocol of its own."""


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


def failure_object(error: click.ClickException) -> dict[str, Any]:
    """Give what ``--json`` writes of an error: ``ok``, ``code``, ``error``, ``wayOut`` and what is known."""
    if not isinstance(error, CommandError):
        error = CommandError(error.format_message(), code=USAGE)
    return error.to_result()
