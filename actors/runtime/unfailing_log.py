"""What the runtime says of things that are not its own: in its logs, and in the text of its errors.

A program's ``repr``, log filter or log handler may raise, and is called in the middle of the end of a life,
or just before a reply is given. Neither may be left half done for that.
"""

import logging
import sys
import threading
import traceback
from contextlib import suppress
from typing import Any


class UnfailingLogger:
    """A logger of the standard library that never stops who writes to it.

    What a filter or a handler raises goes to standard error, as logging does with what it catches itself.
    """

    __slots__ = ("_logger",)

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, text: str, *things: object) -> None:
        """Say what is of use to who looks for a fault."""
        self._write(logging.DEBUG, text, things, None)

    def info(self, text: str, *things: object, exc_info: Any = None) -> None:
        """Say what is no fault."""
        self._write(logging.INFO, text, things, exc_info)

    def warning(self, text: str, *things: object, exc_info: Any = None) -> None:
        """Say what may be a fault."""
        self._write(logging.WARNING, text, things, exc_info)

    def error(self, text: str, *things: object, exc_info: Any = None) -> None:
        """Say what is one."""
        self._write(logging.ERROR, text, things, exc_info)

    def exception(self, text: str, *things: object) -> None:
        """The same with the exception that is being handled."""
        self._write(logging.ERROR, text, things, True)

    def _write(self, level: int, text: str, things: tuple[object, ...], exc_info: Any) -> None:
        try:
            self._logger.log(level, text, *things, exc_info=exc_info, stacklevel=3)
        except BaseException as error:
            if _is_for_the_program(error):
                raise
            if logging.raiseExceptions and sys.stderr is not None:
                with suppress(Exception):  # there is nowhere left to say it
                    traceback.print_exception(error)


def shown(thing: object) -> str:
    """Give the ``repr`` of something, or say that it has none."""
    return _text(repr, thing)


def told(error: BaseException) -> str:
    """Give the text of an error, or say that it has none."""
    return _text(str, error)


def _text(made_by: type[str] | Any, thing: object) -> str:
    try:
        return str(made_by(thing))
    except BaseException as error:
        if _is_for_the_program(error):
            raise
        return f"<{type(thing).__name__}, whose {made_by.__name__}() raises {type(error).__name__}>"


def _is_for_the_program(error: BaseException) -> bool:
    """True for a Ctrl-C, which comes in the main thread at any place."""
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()
