"""Exit codes, and the errors that end a command with one of them."""

from collections.abc import Mapping
from typing import IO, Any

import click

from showcaller.transport.doors.cli.visible import readable

GOOD = 0
FAILED = 1
USAGE = 2
NOT_FOUND = 3
UNREACHABLE = 4
TIMED_OUT = FAILED
UNREAD = 141

EXIT_HELP = """\b
Exit codes:
  0    all went well
  1    something failed or was refused
  2    the command line itself is wrong
  3    no such thing: session, group; or no relay answers
  4    no relay answers where something was to be waited for
  130  interrupted by Ctrl-C or a signal
  141  nobody reads standard output any more"""

_MISSING = frozenset({"REMOTE_RELAY_NOT_FOUND", "REMOTE_RELAY_UNKNOWN", "REMOTE_RELAY_UNKNOWN_GROUP"})


class CommandError(click.ClickException):
    """A command cannot go on: what happened to which thing, the way out, and the exit code."""

    def __init__(self, message: str, way_out: str | None = None, code: int = FAILED) -> None:
        super().__init__(message)
        self.way_out = way_out
        self.code = code

    def show(self, file: IO[Any] | None = None) -> None:
        """Write it to standard error, harmless to a terminal whatever it quotes."""
        click.echo(f"Error: {readable(self.message)}", file=file, err=True)
        if self.way_out:
            click.echo(readable(self.way_out), file=file, err=True)


class OutputLost(Exception):
    """A result could not be written to standard output; what is written from here on goes nowhere."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(f"Cannot write to standard output: {cause.strerror}.")
        self.unread = isinstance(cause, BrokenPipeError)

    @property
    def code(self) -> int:
        """The exit code: nobody reading any more is no failure of ours."""
        return UNREAD if self.unread else FAILED


def refused(code: str, error: str, way_out: str | None = None) -> CommandError:
    """Give the error for a refusal of the relay, with the exit code that its code stands for."""
    return CommandError(error, way_out, NOT_FOUND if code in _MISSING else FAILED)


def checked(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give a call's result back when it succeeded; raises ``CommandError`` when it was refused."""
    if result.get("ok"):
        return result
    raise refused(str(result.get("code", "")), str(result.get("error", "The relay gave no reason.")))
