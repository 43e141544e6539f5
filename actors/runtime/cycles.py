"""Waits that could never end: each actor waits, blocked or with a coroutine, for the next one's reply.

A wait is announced in the cell's ``_hold`` before anybody looks for a cycle, and cycles are looked for
under one lock. So of several actors that close a cycle at the same moment the last to announce sees all
the others, and the first to find the cycle takes its own wait back before the next one looks: exactly
one of them gets the error. The same holds for who forwards a reply to an actor that waits.

A handler of a reentrant actor waits alone, without the actor: it is named by the reply that it owes.
"""

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from showcaller.actors.runtime.errors import AskCycle
from showcaller.actors.runtime.handler import Handler

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.futures import Future

# The replies that are waited for, each with the actor that owes it.
Path = list[tuple["Future[Any]", "Cell"]]

_lock = threading.Lock()


def cycle_of(cell: "Cell", before: Any = None) -> AskCycle | None:
    """Give the error if what ``cell`` waits for waits for ``cell``, and then set its ``_hold`` to ``before``.

    Called by who holds the cell's gate, after the wait was announced. Thread-safe.
    """
    with _lock:
        start = _waits_for(cell)
        path = None if start is None else _lasting_path(start, cell)
        if path is None:
            return None
        cell._hold = before
    return _error(cell, path)


def cycle_of_handler(handler: Handler) -> AskCycle | None:
    """Give the error if what a reentrant actor's handler waits for waits for it, and then end its wait.

    Called by who holds the gate of its cell, after the wait was announced. Thread-safe.
    """
    with _lock:
        path = None if handler.waits_for is None else _lasting_path(handler.waits_for, handler)
        if path is None:
            return None
        handler.forget_wait()
    return _error(handler.cell, path)


def refuse_cycle(reply: "Future[Any]") -> None:
    """End a reply in the error if who owes it now waits for who waits for it. Thread-safe.

    Called after it was passed on to an actor that waits, and found a cycle none of those in it could see.
    """
    with _lock:
        path = _lasting_path(reply, reply)
        if path is None:
            return
        reply.answerer = None  # from here on nobody else finds it
    reply.try_set_exception(_error(path[-1][1], path))


def _error(waits: "Cell", path: Path) -> AskCycle:
    names = " → ".join(str(member) for member in (waits, *(answerer for _, answerer in path)))
    return AskCycle(f"this reply can never come, each waits for the next: {names}")


def _lasting_path(start: "Future[Any]", target: object) -> Path | None:
    """Look twice, for the others do not stand still: who owed a reply may have handed it on before it waited.

    Waits that are found twice were all there at one moment, the one between the looks.
    """
    path = _path(start, target)
    return path if path is not None and path == _path(start, target) else None


def _path(start: "Future[Any]", target: object) -> Path | None:
    """Find the way from a future to a cell or handler that owes it in the end, or round to itself."""
    seen: set[Future[Any]] = set()
    paths: list[tuple[Future[Any], _Step | None]] = [(start, None)]
    while paths:
        future, step = paths.pop()
        if future is target and step is not None:
            return _steps_to(step)
        if future.done or future in seen:
            continue
        seen.add(future)
        answerer = future.answerer
        if answerer is None:
            continue
        if type(answerer) is tuple:  # of derived futures: all of them must come
            paths += [(source, step) for source in answerer]
            continue
        owner = answerer.cell if type(answerer) is Handler else answerer
        step = _Step(future, owner, step)
        if answerer is target or owner is target:
            return _steps_to(step)
        waits = (_waits_for(owner), answerer.waits_for if type(answerer) is Handler else None)
        paths += [(following, step) for following in waits if following is not None]
    return None


class _Step(NamedTuple):
    future: "Future[Any]"
    owner: "Cell"
    before: "_Step | None"


def _steps_to(last: _Step) -> Path:
    path: Path = []
    step: _Step | None = last
    while step is not None:
        path.append((step.future, step.owner))
        step = step.before
    return path[::-1]


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
            owner = answerer.cell if type(answerer) is Handler else answerer
            names.append(str(owner))
            future = _waits_for(owner) if owner is answerer else answerer.waits_for
        else:  # go on with what it is derived from, if that is one
            future = answerer[0] if answerer is not None and len(answerer) == 1 else None
    return " → ".join(names)
