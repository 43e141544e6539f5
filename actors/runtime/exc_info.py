"""The errors that futures end in, as pykka takes them."""

import sys
from types import TracebackType
from typing import Any

ExcInfo = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]


def exc_info_of(given: Any) -> ExcInfo:
    """Give what a future ends in: of an exception, of what is like ``sys.exc_info()``, or the one under way.

    Raises ``TypeError`` for anything else.
    """
    if isinstance(given, BaseException):
        return type(given), given, given.__traceback__
    found: Any = sys.exc_info() if given is None else given
    if type(found) is tuple and len(found) == 3:
        kind, error, traceback = found
        if isinstance(traceback, TracebackType | None) and _fits(kind, error):
            return found
    if given is None:
        raise TypeError("no exception is being handled: give the one that the future is to end in")
    raise TypeError(f"a future ends in an exception, such as ValueError('why'), not in {given!r}")


def _fits(kind: Any, error: Any) -> bool:
    is_kind = isinstance(kind, type) and issubclass(kind, BaseException)
    return is_kind and (error is None or isinstance(error, BaseException))


def forget_our_frame(error: BaseException) -> None:
    """Take the frame that catches an error out of its traceback: it is ours, and would keep what is in it.

    Not by assignment: errors may be frozen.
    """
    traceback = error.__traceback__
    if traceback is not None:
        BaseException.with_traceback(error, traceback.tb_next)
