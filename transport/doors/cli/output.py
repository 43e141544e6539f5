"""Writing to standard output and error: results go to the one, everything else to the other."""

import json
import os
import shutil
import sys
from typing import Any, TextIO

import click

from showcaller.transport.doors.cli.exits import OutputLost
from showcaller.transport.doors.cli.visible import json_safe, readable


def json_line(value: Any) -> str:
    """Give a value as one line of JSON that a terminal shows harmlessly and that always encodes."""
    return json_safe(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def write(line: str) -> None:
    """Write one line to standard output at once.

    Raises ``OutputLost`` when nobody reads it, or when it cannot be written.
    """
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except OSError as error:
        forget(sys.stdout)
        raise OutputLost(error) from error


def note(line: str) -> None:
    """Write lines for the person to standard error, or nowhere once nobody reads that."""
    try:
        click.echo(readable(line), err=True)
    except BrokenPipeError:
        # The results are what counts; as `2>&1 | head` closes both, their next line ends the command.
        forget(sys.stderr)


def terminal_width() -> int | None:
    """Give the width of the terminal that standard output is, None when it is none and nothing need fit."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def coloured() -> bool:
    """Whether colours may be written to standard output."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def forget(stream: TextIO) -> None:
    """Point a standard stream at nothing: what Python flushes at its end cannot fail then."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)
