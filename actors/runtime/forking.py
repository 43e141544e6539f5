"""A fork: the locks of the process are kept whole, and what a child inherits is dead instead of deaf.

The threads of a dispatcher do not survive a fork, nor does what they were just doing: an actor that they
ran would stay in the middle of it for ever. So in the child the dispatchers of the parent are closed and
their actors dead, and nobody's code is called for that: it is the parent's to end them.
"""

import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pykka

from showcaller.actors.runtime.context import Turn, here, leave_all
from showcaller.actors.runtime.extras import extras_lock
from showcaller.actors.runtime.long_waits import lock as looking
from showcaller.actors.runtime.program_end import PROGRAM_END
from showcaller.actors.runtime.ref import ActorRef
from showcaller.actors.runtime.registry import RUNNING
from showcaller.actors.runtime.timers import Timers
from showcaller.actors.runtime.watchdog import Watchdog

if TYPE_CHECKING:
    from showcaller.actors.runtime.dispatcher import Dispatcher

# In the order in which a thread takes them that takes several.
_LOCKS = (pykka.ActorRegistry._actor_refs_lock, looking, extras_lock)
_CHILDS = "whose threads did not survive the fork: make another one in this process"

_inherited: "list[Any]" = []  # the dispatchers of the parent, while it forks


def see_to_forks() -> None:
    """Let no fork happen while another thread holds a lock: in the child nobody would ever let go of it.

    And let the child's actors be its own.
    """
    os.register_at_fork(before=_take, after_in_parent=_let_go, after_in_child=_begin_child)


def _take() -> None:
    _inherited[:] = PROGRAM_END.dispatchers()
    for lock in _LOCKS:
        lock.acquire()


def _let_go() -> None:
    for lock in reversed(_LOCKS):
        lock.release()
    _inherited.clear()


def _begin_child() -> None:
    leave_all(_inherited)
    if any(here.dispatcher is each for each in _inherited):
        here.dispatcher = None  # from here on the child's own
        here.turn = Turn()
    for dispatcher in _inherited:
        _close(dispatcher)
    _let_go()


def _with_children(cells: "list[Any]") -> "Iterator[ActorRef[Any]]":
    """Give the actors among the cells, and all below them: a supervisor knows its children."""
    left = [cell for cell in cells if isinstance(cell, ActorRef)]
    while left:
        cell = left.pop()
        if cell._actor is None:
            continue  # dead, or given already
        yield cell
        if cell._extras is not None:
            left += cell._extras.children or ()


def _close(dispatcher: "Dispatcher") -> None:
    pinned = list(dispatcher._pinned)
    held = [thread.runnable for thread in dispatcher._threads] + [thread.cell for thread in pinned]
    known = [*held, *dispatcher._ready, *dispatcher._blocked, *dispatcher.suspended, *dispatcher.owing]
    known += [
        ref for ref in RUNNING if isinstance(ref, ActorRef) and ref._dispatcher.unpinned() is dispatcher
    ]
    for cell in _with_children(known):
        cell._actor = None
        RUNNING.discard(cell)
    dispatcher._inherited = (
        True  # one that a thread had between gate and queue is in no list, if nobody's child
    )
    dispatcher._lock, dispatcher._tally = threading.RLock(), threading.RLock()
    dispatcher._runner = dispatcher._parked = dispatcher._starved = None
    for held_by in (dispatcher._threads, dispatcher._blocked, dispatcher._pinned, dispatcher._spares):
        held_by.clear()
    for waiting in (dispatcher._ready, dispatcher.suspended, dispatcher.owing, dispatcher._quiet.waiters):
        waiting.clear()
    dispatcher.timers = Timers(dispatcher.clock, dispatcher._timer_added, dispatcher.late_reply)
    dispatcher._watchdog = Watchdog(dispatcher, 1.0)
    dispatcher._closed, dispatcher._why_closed = True, _CHILDS
    for thread in pinned:
        thread._lock, thread._ended, thread._open = threading.RLock(), True, 0
        thread.timers = dispatcher.timers
