"""A thread that blocks until a future is done, and what it would wait for in vain."""

import asyncio
from _thread import TIMEOUT_MAX, LockType, allocate_lock
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.context import current_cell
from showcaller.actors.runtime.handler import Blocked, broken_off, may_not_wait, wake
from showcaller.actors.runtime.loop_waits import refuse_blocked_loop, refuse_closed_loop
from showcaller.actors.runtime.making import refuse_wait_while_making
from showcaller.actors.runtime.waits import BLOCKED_LOOPS, owners_of

if TYPE_CHECKING:
    from showcaller.actors.runtime.futures import Future

__all__ = ["Waker", "wait_in_thread"]


class Waker:
    """Wakes a thread that sleeps on a lock until a future is done."""

    __slots__ = ("_woken",)

    def __init__(self, woken: LockType) -> None:
        self._woken = woken

    def __call__(self, _: "Future[Any]") -> None:
        """Wake it."""
        wake(self._woken)


def _refuse_vain_wait(future: "Future[Any]") -> None:
    """Raise if this thread would wait for ever, because nobody but itself lets the owner of the reply run."""
    answerer = future.answerer
    dispatcher = getattr(answerer, "_dispatcher", None)
    if dispatcher is not None and not (dispatcher._by_hand or dispatcher._inherited):  # mostly, and faster
        refuse_wait_while_making(answerer)
        return
    refuse_closed_loop(future)
    for owner in owners_of(future):
        refuse_wait_while_making(owner)
        owner._dispatcher.refuse_wait(owner)


def wait_in_thread(future: "Future[Any]", timeout: float | None) -> bool:
    """Block this thread until ``future`` is done or ``timeout`` seconds have passed; say which.

    Raises ``pykka.ActorDeadError`` in a handler whose actor was killed by, or with, its supervisor.
    """
    if future.answerer is not None:
        _refuse_vain_wait(future)
    loop = asyncio._get_running_loop()
    if loop is None:
        return _sleep_until_done(future, timeout)
    before, BLOCKED_LOOPS[loop] = BLOCKED_LOOPS.get(loop), future
    try:
        refuse_blocked_loop(future, loop)
        return _sleep_until_done(future, timeout)
    finally:
        if before is None:
            del BLOCKED_LOOPS[loop]
        else:
            BLOCKED_LOOPS[loop] = before


def _sleep_until_done(future: "Future[Any]", timeout: float | None) -> bool:
    woken = allocate_lock()
    woken.acquire()

    wake_up = Waker(woken)
    cell = current_cell()
    hold = None if cell is None else cell._hold
    blocked = hold if type(hold) is Blocked else None
    if cell is not None and blocked is not None:
        blocked.woken = woken  # first this, then the look: who kills does it the other way round
        if may_not_wait(cell):
            blocked.broken_off = True
            wake(woken)
    future.add_done_callback(wake_up)
    if future._done:
        return True
    came = woken.acquire(timeout=-1 if timeout is None else min(max(0.0, timeout), TIMEOUT_MAX))
    if future.done:
        return True
    future.forget_callback(wake_up)
    if came:
        raise broken_off(cell)
    return future.done
