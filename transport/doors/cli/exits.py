"""Exit codes, and the errors that end a command with one of them."""

from collections.abc import Mapping, Sequence
from typing import IO, Any, Final

import click

from showcaller.actors.contract.errors import Code, ambiguity
from showcaller.transport.doors.cli.candidates import Candidate, candidate_lines, candidates_in
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
  3    no such thing: session, group, card; or no relay answers
  4    no relay answers where something was to be waited for
  130  interrupted by Ctrl-C or a signal
  141  nobody reads standard output any more"""

_MISSING: Final = frozenset({Code.NOT_FOUND, Code.UNKNOWN, Code.UNKNOWN_GROUP})
_USUAL: Final = {
    FAILED: Code.CALL_FAILED,
    USAGE: Code.INVALID_INPUT,
    NOT_FOUND: Code.NOT_FOUND,
    UNREACHABLE: Code.UNAVAILABLE,
}
_ENVELOPE: Final = frozenset({"ok", "code", "error"})


class CommandError(click.ClickException):
    """A command cannot go on: what happened to which thing, the way out, and the exit code.

    ``refusal`` is the contract's code for it, by default the one that the exit code stands for; ``further``
    is what a program may want to know besides.
    """

    def __init__(
        self,
        message: str,
        way_out: str | None = None,
        code: int = FAILED,
        *,
        refusal: str | None = None,
        further: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.way_out = way_out
        self.code = code
        self.refusal = refusal
        self.further = dict(further or {})

    def to_result(self) -> dict[str, Any]:
        """Give it as ``--json`` writes it: as the relay's own refusals, with the way out."""
        code = self.refusal or _USUAL.get(self.code, Code.CALL_FAILED)
        told = {"ok": False, "code": str(code), "error": self.message}
        return told | ({"wayOut": self.way_out} if self.way_out else {}) | self.further

    def show(self, file: IO[Any] | None = None) -> None:
        """Write it to standard error, harmless to a terminal whatever it quotes."""
        click.echo(f"Error: {readable(self.message)}", file=file, err=True)
        if self.way_out:
            click.echo(readable(self.way_out), file=file, err=True)


class Interrupted(KeyboardInterrupt):
    """A signal has ended a command that leaves something: how that stands, and what a program may know."""

    def __init__(self, way_out: str, further: Mapping[str, Any]) -> None:
        super().__init__(way_out)
        self.way_out = way_out
        self.further = dict(further)


class OutputLost(Exception):
    """A result could not be written to standard output; what is written from here on goes nowhere."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(f"Cannot write to standard output: {cause.strerror}.")
        self.unread = isinstance(cause, BrokenPipeError)

    @property
    def code(self) -> int:
        """The exit code: nobody reading any more is no failure of ours."""
        return UNREAD if self.unread else FAILED


def no_relay(error: str, way_out: str | None = None, code: int = NOT_FOUND) -> CommandError:
    """Give the error of a command that needs a relay where none answers."""
    return CommandError(error, way_out, code, refusal=Code.UNAVAILABLE)


def refused(result: Mapping[str, Any], way_out: str | None = None) -> CommandError:
    """Give the error for a call's result that is a refusal, with the exit code that its code stands for.

    A name that can mean several things makes the command line a wrong one.
    """
    code = str(result.get("code", Code.CALL_FAILED))
    further = {name: value for name, value in result.items() if name not in _ENVELOPE}
    exit_code = NOT_FOUND if code in _MISSING else FAILED
    if further.get("ambiguous"):
        exit_code, way_out = USAGE, way_out or candidate_lines(candidates_in(further))
    elif code == Code.UNKNOWN_GROUP and (there := candidates_in(further)):
        way_out = way_out or f"There are:\n{candidate_lines(there)}"
    error = str(result.get("error", "The relay gave no reason."))
    return CommandError(error, way_out, exit_code, refusal=code, further=further)


def several(name: str, kind: str, candidates: Sequence[Candidate]) -> CommandError:
    """Give the error for a name that can mean several things, in the words of the relay's own refusal.

    ``kind`` is the plural of what they are, and of each candidate the first text is its id.
    """
    return CommandError(
        ambiguity(repr(name), kind),
        candidate_lines(candidates),
        USAGE,
        further={"ambiguous": True, kind: [candidate[0] for candidate in candidates]},
    )


def checked(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give a call's result back when it succeeded; raises ``CommandError`` when it was refused."""
    if result.get("ok"):
        return result
    raise refused(result)
