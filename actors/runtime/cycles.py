"""Waits that could never end: each actor waits, blocked or with a coroutine, for the next one's reply.

A wait is announced in the cell's ``_hold`` before anybody looks for a cycle, and cycles are looked for
under one lock. So of several actors that close a cycle at the same moment the last to announce sees all
the others, and the first to find the cycle takes its own wait back before the next one looks: exactly
one of them gets the error. The same holds for who forwards a reply to an actor that waits.

A handler of a reentrant actor waits alone, without the actor: it is named by the reply that it owes. A
supervisor waits for nobody, but what it owes may wait for a child that starts (``Undertaking``).

Who waits looks ``AT_ONCE`` replies far. What is longer is looked at a moment later, together
(``long_waits``): a chain of a thousand actors that each look along all the others takes a million steps.
"""

from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.debts import Debt
from showcaller.actors.runtime.errors import AskCycle
from showcaller.actors.runtime.handler import Handler
from showcaller.actors.runtime.long_waits import lock, look_later
from showcaller.actors.runtime.waits import (
    BLOCKED_LOOPS,
    LoopWork,
    TooLong,
    chain,
    error_of,
    lasting_path,
    waits_of,
)

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.futures import Future

AT_ONCE = 32  # futures: so few that looking costs no more than waiting does


def cycle_of(cell: "Cell", before: Any = None) -> AskCycle | None:
    """Give the error if what ``cell`` waits for waits for ``cell``, and then set its ``_hold`` to ``before``.

    Called by who holds the cell's gate, after the wait was announced. Thread-safe.
    """
    start = waits_of(cell)
    if start is None:
        return None
    try:
        with lock:
            path = lasting_path(start, cell, AT_ONCE)
            if path is None:
                return None
            cell._hold = before
    except TooLong:
        look_later(cell._dispatcher, start)
        return None
    return error_of(cell, path)


def cycle_of_handler(handler: Handler) -> AskCycle | None:
    """Give the error if what a reentrant actor's handler waits for waits for it, and then end its wait.

    Called by who holds the gate of its cell, after the wait was announced. Thread-safe.
    """
    start = handler.waits_for
    if start is None:
        return None
    try:
        with lock:
            path = lasting_path(start, handler, AT_ONCE)
            if path is None:
                return None
            handler.forget_wait()
    except TooLong:
        look_later(handler.cell._dispatcher, start)
        return None
    return error_of(handler.cell, path)


def refuse_cycle(reply: "Future[Any]", owner: "Cell") -> None:
    """End a reply in the error if ``owner``, who owes it now, waits for who waits for it. Thread-safe.

    Called after it was passed on to an actor that waits, and found a cycle none of those in it could see.
    """
    try:
        with lock:
            path = lasting_path(reply, reply, AT_ONCE)
            if path is None:
                return
            reply.answerer = None  # from here on nobody else finds it
    except TooLong:
        look_later(owner._dispatcher, reply)
        return
    reply.try_set_exception(error_of(path[-1][1], path))


def may_wait(answerer: Any) -> bool:
    """Give False if who owes a future does not wait itself: then no cycle need be looked for."""
    kind = type(answerer)
    if answerer is None or kind is Debt:
        return False
    if kind is LoopWork:
        return answerer.loop in BLOCKED_LOOPS
    return kind is tuple or kind is Handler or answerer._hold is not None


__all__ = ["AT_ONCE", "chain", "cycle_of", "cycle_of_handler", "may_wait", "refuse_cycle"]
