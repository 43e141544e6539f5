"""How the callbacks of futures are run: where a future is completed, and as a loop when they complete others.

A callback may complete a future, whose callback completes the next one, and so on for thousands. So only
``DEEPEST`` of them are run inside one another; what is completed below that is put off until the callback
that did it has returned, and comes before the next one. The order is the same either way.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.derivation import Derivation
from showcaller.actors.runtime.journal import Journal

if TYPE_CHECKING:
    from showcaller.actors.runtime.futures import Future

DEEPEST = 16

logger = Journal("showcaller.actors")

Callback = Callable[["Future[Any]"], object]


class _Delivery(threading.local):
    """What a thread delivers just now."""

    depth = 0
    put_off: "list[tuple[Future[Any], Callback | None]] | None" = None


delivery = _Delivery()


def deliver(future: "Future[Any]", callback: Callback | None) -> None:
    """Run a callback that was taken from a future, and then those that are left."""
    if delivery.depth >= DEEPEST:
        if delivery.put_off is None:
            delivery.put_off = []
        delivery.put_off.append((future, callback))
        return
    _run([(future, callback)])


def deliver_first() -> None:
    """Run what this thread has put off, because it is about to wait, perhaps for one of them."""
    if delivery.put_off is not None:
        _run(_taken())


def _run(waiting: "list[tuple[Future[Any], Callback | None]]") -> None:
    """Run what waits, the last first, and what is put off meanwhile before what is left."""
    interrupt: KeyboardInterrupt | None = None
    before, delivery.put_off = delivery.put_off, None
    delivery.depth += 1
    try:
        while waiting:
            future, callback = waiting.pop()
            if callback is None:
                try:
                    callback = future._callbacks.pop(0)
                except IndexError:  # there is none, or the other side of a race has popped it
                    continue
            waiting.append((future, None))
            try:
                decided = callback(future)
            except KeyboardInterrupt as error:
                interrupt = error
            except BaseException:  # who completes a future has no part in what others do with it
                logger.exception("A callback of a future failed")
            else:
                if type(callback) is Derivation and decided is not None:
                    waiting.append((decided, None))  # type: ignore[arg-type]
            waiting += _taken()
    finally:
        delivery.depth -= 1
        delivery.put_off = before
    if interrupt is not None:
        pass_on(interrupt)


def _taken() -> "list[tuple[Future[Any], Callback | None]]":
    """Take what was put off, the last first."""
    put_off = delivery.put_off
    if put_off is None:
        return []
    delivery.put_off = None
    return put_off[::-1]


def pass_on(interrupt: KeyboardInterrupt) -> None:
    """Raise it in the main thread, where Ctrl-C is heard; elsewhere it was a callback's own: log it."""
    if threading.current_thread() is threading.main_thread():
        raise interrupt
    logger.error("A callback of a future failed", exc_info=interrupt)
