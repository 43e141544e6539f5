"""Finding the Python function that a turn names: registered, or imported with the user's folder first."""

import importlib
import inspect
import json
import sys
import threading
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from traceback import extract_tb, format_exception_only, format_list
from typing import Any, Final, NamedTuple

CONTEXT_NAMES: Final = frozenset({"ctx", "context"})
FRAMES_SHOWN: Final = 5
_OURS: Final = Path(__file__).parent


class FunctionNotFoundError(Exception):
    """The function that a turn names cannot be had; the text says why."""


class Function(NamedTuple):
    """A function, and whether it takes the context beside the item."""

    call: Callable[..., Any]
    takes_context: bool


class Functions:
    """The functions that turns may call, by the text after ``callable:``. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._registered: dict[str, Function] = {}
        self._imported: dict[tuple[str, str | None], Function] = {}

    def register(self, name: str, function: Callable[..., Any]) -> None:
        """Offer a function by a name; raises ValueError for an empty name or one with a colon."""
        if not name or ":" in name:
            raise ValueError(f"{name!r} cannot name a function: give a name without a colon")
        self._registered[name] = Function(function, takes_context(function))

    def find(self, target: str, folder: str | None) -> Function:
        """Give the registered function of that name, or import ``module:function`` with the folder first.

        Raises FunctionNotFoundError. An import stays: this process has one ``sys.path`` and one module of
        a name, so of two folders that hold modules of the same name the first imported is used for both.
        """
        if (registered := self._registered.get(target)) is not None:
            return registered
        module, colon, name = target.partition(":")
        if not (module and colon and name):
            known = ", ".join(sorted(self._registered)) or "none"
            raise FunctionNotFoundError(
                f"no function is registered as {target!r} (registered: {known}); "
                "a function of a module is named callable:module:function"
            )
        found = self._imported.get((target, folder))
        if found is None:
            with self._lock:  # for sys.path, which an import with another folder first would change
                found = self._imported[target, folder] = _imported(module, name, folder)
        return found


def takes_context(function: Callable[..., Any]) -> bool:
    """Say whether a function wants the context: by a second positional parameter that has no default.

    One with a default counts when it is called ``ctx`` or ``context``. A function without a signature (some
    builtins) does not.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 2:
        return False
    second = positional[1]
    return second.default is second.empty or second.name in CONTEXT_NAMES


def failure_text(error: BaseException) -> str:
    """Give an exception as one would read it, then the last frames of its traceback that are not ours."""
    frames = [frame for frame in extract_tb(error.__traceback__) if Path(frame.filename).parent != _OURS]
    return ("".join(format_exception_only(error)) + "".join(format_list(frames[-FRAMES_SHOWN:]))).strip()


def value_text(value: Any) -> str:
    """Give a value as a reply: text as it is, None as nothing, else JSON, or how Python shows it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return str(value)
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _imported(module_name: str, name: str, folder: str | None) -> Function:
    if folder is not None:
        _put_first(folder)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise FunctionNotFoundError(f"cannot import {module_name}: {failure_text(error)}") from error
    try:
        function = attrgetter(name)(module)
    except AttributeError as error:
        raise FunctionNotFoundError(f"the module {module_name} has no function {name}: {error}") from error
    if not callable(function):
        raise FunctionNotFoundError(f"{module_name}:{name} is not callable: it is {type(function).__name__}")
    return Function(function, takes_context(function))


def _put_first(folder: str) -> None:
    path = str(Path(folder).absolute())
    if not Path(path).is_dir():
        raise FunctionNotFoundError(f"cannot import from the folder {folder}: there is no such folder")
    if sys.path[:1] != [path]:
        sys.path[:] = [path, *(entry for entry in sys.path if entry != path)]
        importlib.invalidate_caches()
