"""What a closed dispatcher does for those who wait: nobody waits for ever for what it will not do."""

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from showcaller.actors.runtime.dispatcher import Dispatcher

logger = logging.getLogger("showcaller.actors")


def end_waiting(dispatcher: "Dispatcher") -> None:
    """End what waits on a dispatcher that is closed: coroutines, and replies with a timeout.

    Called by whoever closes, and by each thread that ends after that, since its last handlers may have
    begun to wait meanwhile.
    """
    for cell in list(dispatcher.suspended):
        cell.kill_for_good()
    dispatcher.timers.awake()
    dispatcher._look_again()


def abandon(dispatcher: "Dispatcher") -> None:
    """Refuse the mail of cells that nobody will run, and give up timers that nobody will fire."""
    ready = dispatcher._ready
    while True:
        try:
            runnable = ready.popleft()
        except IndexError:
            break
        runnable.abandon()
    try:
        dispatcher.timers.give_up()
    except BaseException:
        logger.exception("A callback of an overdue reply failed")
    if dispatcher._quiet.waiters:
        dispatcher._quiet.look()
