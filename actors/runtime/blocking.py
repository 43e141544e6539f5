"""A handler that blocks in ``future.get()`` on a thread of a dispatcher, while the others go on."""

from _thread import get_ident
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.context import current_cell
from showcaller.actors.runtime.cycles import chain, cycle_of
from showcaller.actors.runtime.errors import DispatcherExhausted
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.handler import Blocked
from showcaller.actors.runtime.thread_waits import wait_in_thread

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.dispatcher import Dispatcher


def wait_blocked(dispatcher: "Dispatcher", future: Future[Any], timeout: float | None) -> bool:
    """Wait for a future in a handler; False at the timeout (seconds).

    Raises ``AskCycle`` when the reply is owed by an actor that waits, over any chain, for this one,
    and ``DispatcherExhausted`` when ``max_blocked`` handlers wait already.
    """
    cell = current_cell()
    if cell is None:  # a thread inside ``with dispatcher:``, not one of ours
        return wait_in_thread(future, timeout)
    before, cell._hold = cell._hold, Blocked(future)
    try:
        problem = cycle_of(cell, before)
        if problem is not None:
            raise problem
        _vacate(dispatcher, cell)
        try:
            return wait_in_thread(future, timeout)
        finally:
            with dispatcher._lock:
                del dispatcher._blocked[cell]
    finally:
        cell._hold = before


def _vacate(dispatcher: "Dispatcher", cell: "Cell") -> None:
    """Give up the role of the runner, if this thread has it."""
    with dispatcher._lock:
        if len(dispatcher._blocked) >= dispatcher.max_blocked:
            raise DispatcherExhausted(
                f"{cell} would be one more than {dispatcher.max_blocked} handlers waiting for a reply: "
                f"{chain(cell)}; await the reply (ref.request) instead of blocking on it"
            )
        dispatcher._blocked[cell] = None
        if dispatcher._runner is not None and dispatcher._runner.ident == get_ident():
            dispatcher._runner = None  # whoever schedules next finds a thread for it
    dispatcher._look_again()
