"""Writing to standard output and error: results go to the one, everything else to the other."""

import errno
import io
import json
import os
import sys
from collections.abc import Mapping
from typing import Any, Final, TextIO

import click

from showcaller.transport.doors.cli.exits import OutputLost
from showcaller.transport.doors.cli.visible import json_safe, readable

USUAL_WIDTH = 80
_ENVELOPE: Final = frozenset({"ok", "relay", "summary"})


def json_line(value: Any) -> str:
    """Give a value as one line of JSON that a terminal shows harmlessly and that always encodes."""
    return json_safe(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def without_envelope(result: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a result says, without what every result has."""
    return {name: value for name, value in result.items() if name not in _ENVELOPE}


class _Results:
    """Where results go: to standard output, or to what it was before it was taken."""

    taken: TextIO | None = None
    is_begun = False

    @property
    def stream(self) -> TextIO:
        stream: TextIO | None = self.taken or sys.stdout
        if stream is None:  # the program was started with descriptor 1 closed
            raise OutputLost(OSError(errno.EBADF, os.strerror(errno.EBADF)))
        return stream


RESULTS = _Results()


def take_standard_output() -> None:
    """Keep standard output for ``write`` alone; for everybody else it is standard error from here on.

    It is not given back, for a function that prints, or a process that it started, may outlive its fan-out.
    A second call is harmless. Raises ``OutputLost`` when there is no standard output.
    """
    if RESULTS.taken is not None:
        return
    before = RESULTS.stream
    try:
        before.flush()
        own = os.dup(1)
    except OSError as error:
        raise OutputLost(error) from error
    os.dup2(2, 1)
    # It is never closed, as standard output is not, and then Python must not complain of that.
    RESULTS.taken = os.fdopen(own, "w", encoding=before.encoding, errors="backslashreplace", closefd=False)
    if isinstance(before, io.TextIOWrapper):
        before.reconfigure(line_buffering=True)


def have_standard_streams() -> None:
    """Fill the standard descriptors with which the program was started closed.

    Notes go nowhere then. That there is no standard input or output is for their users to say.
    """
    streams: list[TextIO | None] = [sys.stdin, sys.stdout, sys.stderr]
    for descriptor, stream in enumerate(streams):
        if stream is None:
            _to_nowhere(descriptor)  # before a file of ours gets that number, and the notes in it
    if streams[2] is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)


def write(line: str) -> None:
    """Write one line to standard output at once.

    Raises ``OutputLost`` when nobody reads it, or when it cannot be written.
    """
    write_piece(line + "\n")


def write_piece(text: str) -> None:
    """Write a piece of a longer text to standard output at once; raises ``OutputLost`` as ``write`` does."""
    stream = RESULTS.stream
    RESULTS.is_begun = True
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        forget(stream)
        raise OutputLost(error) from error


def has_written() -> bool:
    """Whether this command has written anything to standard output."""
    return RESULTS.is_begun


def note(line: str) -> None:
    """Write lines for the person to standard error, or nowhere once nobody reads that."""
    try:
        click.echo(readable(line), err=True)
    except BrokenPipeError:
        # The results are what counts; as `2>&1 | head` closes both, their next line ends the command.
        forget(sys.stderr)
        if RESULTS.taken is not None:
            forget(sys.stdout)


def terminal_width() -> int | None:
    """Give the width of the terminal that standard output is, None when it is none and nothing need fit."""
    stream = RESULTS.stream
    if not stream.isatty():
        return None
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named):
        return int(named)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except OSError:
        return USUAL_WIDTH


def coloured() -> bool:
    """Whether colours may be written to standard output."""
    return RESULTS.stream.isatty() and not os.environ.get("NO_COLOR")


def forget(stream: TextIO) -> None:
    """Point a standard stream at nothing: what Python flushes at its end cannot fail then."""
    _to_nowhere(stream.fileno())


def _to_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, descriptor)
    if nowhere != descriptor:
        os.close(nowhere)
