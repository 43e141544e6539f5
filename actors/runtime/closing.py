"""What a closed dispatcher does for those who wait: nobody waits for ever for what it will not do."""

import threading
from typing import TYPE_CHECKING

from showcaller.actors.runtime.context import Turn, here
from showcaller.actors.runtime.unfailing_log import UnfailingLogger

if TYPE_CHECKING:
    from showcaller.actors.runtime.dispatcher import Dispatcher

logger = UnfailingLogger("showcaller.actors")


def end_waiting(dispatcher: "Dispatcher") -> None:
    """End what waits on a dispatcher that is closed: coroutines, and replies taken over or with a timeout.

    Called by whoever closes, and by each thread that ends after that, since its last handlers may have
    begun to wait meanwhile.
    """
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
