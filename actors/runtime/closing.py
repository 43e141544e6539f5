"""What a closed dispatcher does for those who wait: nobody waits for ever for what it will not do."""

import threading
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.context import Turn, here
from showcaller.actors.runtime.unfailing_log import UnfailingLogger

if TYPE_CHECKING:
    from showcaller.actors.runtime.dispatcher import Dispatcher

logger = UnfailingLogger("showcaller.actors")


def close(dispatcher: "Dispatcher") -> None:
    """End its threads once nothing is ready, and what waits for what will not come."""
    with dispatcher._lock:
        dispatcher._closed = True
        spares, dispatcher._spares = dispatcher._spares, []
        for spare in spares:
            spare.wake.release()
        if dispatcher._parked is not None:
            parked, dispatcher._parked = dispatcher._parked, None
            parked.wake.release()
        pinned, idle = list(dispatcher._pinned), dispatcher._runner is None
    for thread in pinned:
        thread.close()
    dispatcher._watchdog.close()
    end_waiting(dispatcher)
    if idle:
        abandon(dispatcher)


def halt(dispatcher: "Dispatcher", seconds: float) -> None:
    """If any works, take the role from every thread, and wait until those in a slice have seen it.

    A thread that is still in a handler when Python ends is stopped wherever it next wants the GIL; were
    that in a write to a standard stream, Python could not flush it and would abort.
    """
    with dispatcher._lock:
        over = [pinned.over for pinned in dispatcher._pinned if pinned.has_mail]
        over += [thread.over for thread in dispatcher._threads if _is_in_slice(dispatcher, thread.runnable)]
        if not over and not dispatcher._ready:
            return
        dispatcher._closed = dispatcher._halted = True
        dispatcher._runner = dispatcher._parked = None
    dispatcher._watchdog.close()
    now = dispatcher.clock.monotonic
    until = now() + seconds
    for lock in over:
        if not lock.acquire(timeout=max(0.0, until - now())):
            return


def _is_in_slice(dispatcher: "Dispatcher", runnable: Any) -> bool:
    return runnable is not None and runnable not in dispatcher._blocked


def end_waiting(dispatcher: "Dispatcher") -> None:
    """End what waits on a dispatcher that is closed: coroutines, and replies taken over or with a timeout.

    Called by whoever closes, and by each thread that ends after that, since its last handlers may have
    begun to wait meanwhile.
    """
    if dispatcher._halted:
        return
    for cell in [*dispatcher.suspended, *dispatcher.owing]:
        cell.kill_for_good()
    dispatcher.timers.awake()
    dispatcher._look_again()


def abandon(dispatcher: "Dispatcher") -> None:
    """Refuse the mail of cells that nobody will run, and give up timers that nobody will fire.

    Who ends tells who watches it, which ends in its turn, and so on: all but the first are left to the loop
    of the first one. (Not in a coroutine that is ended: that may wait for an answer of one of them.)
    """
    place = (dispatcher, here.turn)
    if _abandoning.place == place:
        return
    before, _abandoning.place = _abandoning.place, place
    try:
        _abandon_ready(dispatcher)
    finally:
        _abandoning.place = before
    try:
        dispatcher.timers.give_up()
    except BaseException:
        logger.exception("A callback of an overdue reply failed")
    if dispatcher._quiet.waiters:
        dispatcher._quiet.look()


def _abandon_ready(dispatcher: "Dispatcher") -> None:
    ready = dispatcher._ready
    while True:
        try:
            runnable = ready.popleft()
        except IndexError:
            return
        runnable.abandon()


class _Abandoning(threading.local):
    """For which dispatcher, and in which turn, a thread abandons cells just now."""

    place: "tuple[Dispatcher, Turn] | None" = None


_abandoning = _Abandoning()
