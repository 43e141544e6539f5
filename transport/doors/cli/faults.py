"""Errors that nobody foresaw: told in a line, with all of it only for who asks."""

import errno
import os
import traceback

from showcaller.transport.doors.cli.exits import CommandError

DEBUG_VARIABLE = "SHOWCALLER_DEBUG"
FEWEST_DESCRIPTORS = 64
_USED_UP = frozenset({errno.EMFILE, errno.ENFILE})


def told(error: Exception) -> CommandError:
    """Give the error that tells a person of one that no command expected: what it is and what to do.

    Where ``SHOWCALLER_DEBUG`` is set and not empty, the traceback stands before the way out.
    """
    if isinstance(error, OSError) and error.errno in _USED_UP:
        return too_few_descriptors("There are too few file descriptors")
    said = traceback.format_exception_only(error)[-1].strip()
    message = f"This is a mistake of Showcaller's, not of yours: {said}"
    if os.environ.get(DEBUG_VARIABLE):
        return CommandError(message, "".join(traceback.format_exception(error)).rstrip())
    return CommandError(message, f"Please report it, with what {DEBUG_VARIABLE}=1 before the command shows.")


def came_of_interrupt(error: BaseException) -> bool:
    """Whether a Ctrl-C is what the error came of: Python wraps one that arrives while it makes a class."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, KeyboardInterrupt):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def check_descriptors(allowed: int) -> None:
    """Refuse to begin where the process may open fewer files than a relay needs; -1 is no limit.

    Raises ``CommandError`` that says how to allow more.
    """
    if 0 <= allowed < FEWEST_DESCRIPTORS:
        raise too_few_descriptors(
            f"There are too few file descriptors: {allowed} allowed, {FEWEST_DESCRIPTORS} needed"
        )


def too_few_descriptors(what: str) -> CommandError:
    """Give the error for a limit on open files that is too low."""
    return CommandError(f"{what}.", "Allow more before the command: ulimit -n 1024")
