"""Waits that could never end: each actor waits, blocked or with a coroutine, for the next one's reply.

A wait is announced in the cell's ``_hold`` before anybody looks for a cycle, and cycles are looked for
under one lock. So of several actors that close a cycle at the same moment the last to announce sees all
the others, and the first to find the cycle takes its own wait back before the next one looks: exactly
one of them gets the error.
"""

import threading
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.errors import AskCycle

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.futures import Future

Path = list[tuple["Future[Any]", "Cell"]]  # the replies that are waited for, each with the actor that owes it

_lock = threading.Lock()


def cycle_of(cell: "Cell", before: Any = None) -> AskCycle | None:
    """Give the error if what ``cell`` waits for waits for ``cell``, and then set its ``_hold`` to ``before``.

    Called by who holds the cell's gate, after the wait was announced. Thread-safe.
    """
    with _lock:
        path = _lasting_path_back(cell)
        if path is None:
            return None
        cell._hold = before
    names = " → ".join(str(member) for member in (cell, *(answerer for _, answerer in path)))
    return AskCycle(f"this reply can never come, each waits for the next: {names}")


def _lasting_path_back(cell: "Cell") -> Path | None:
    """Look twice, for the others do not stand still: who owed a reply may have handed it on before it waited.

    Waits that are found twice were all there at one moment, the one between the looks.
    """
    path = _path_back(cell)
    return path if path is not None and path == _path_back(cell) else None


def _path_back(cell: "Cell") -> Path | None:
    start = _waits_for(cell)
    if start is None:
        return None
    seen: set[object] = set()
    paths: list[tuple[Future[Any], Path]] = [(start, [])]
    while paths:
        future, path = paths.pop()
        answerer = future.answerer
        if future.done or future in seen:
            continue
        seen.add(future)
        if type(answerer) is tuple:  # of derived futures: all of them must come
            paths += [(source, path) for source in answerer]
        elif answerer is cell:
            return [*path, (future, cell)]
        elif answerer is not None and answerer not in seen:
            seen.add(answerer)
            following = _waits_for(answerer)
            if following is not None:
                paths.append((following, [*path, (future, answerer)]))
    return None


def _waits_for(cell: "Cell") -> "Future[Any] | None":
    hold = cell._hold
    waits_for: Future[Any] | None = None if hold is None else hold.waits_for
    return waits_for


def chain(cell: "Cell", longest: int = 10) -> str:
    """Name the actors that wait for one another, from ``cell`` on."""
    names = [str(cell)]
    future = _waits_for(cell)
    while future is not None and len(names) < longest:
        answerer: Any = future.answerer
        if type(answerer) is not tuple and answerer is not None:
            names.append(str(answerer))
            future = _waits_for(answerer)
        else:  # go on with what it is derived from, if that is one
            future = answerer[0] if answerer is not None and len(answerer) == 1 else None
    return " → ".join(names)
