"""How the callbacks of futures are run: where a future is completed, and as a loop when they complete others.

A callback may complete a future, whose callback completes the next one, and so on for thousands. So only
``DEEPEST`` of them are run inside one another; what is completed below that is put off until the callback
that did it has returned, and comes before the next one. The order is the same either way.
"""

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.derivation import Derivation
from showcaller.actors.runtime.unfailing_log import UnfailingLogger

if TYPE_CHECKING:
    from showcaller.actors.runtime.futures import Future

DEEPEST = 16

logger = UnfailingLogger("showcaller.actors")

Keys = Iterator[Any]
"""The callbacks of a future that are left, each by its key."""


class _Delivery(threading.local):
    """What a thread delivers just now."""

    depth = 0
    put_off: "list[tuple[Future[Any], Keys]] | None" = None


delivery = _Delivery()


def deliver(future: "Future[Any]", keys: Keys) -> None:
    """Run the callbacks of a future that have these keys and were not taken yet."""
    if delivery.depth >= DEEPEST:
        if delivery.put_off is None:
            delivery.put_off = []
        delivery.put_off.append((future, keys))
        return
    _run([(future, keys)])


def deliver_first() -> None:
    """Run what this thread has put off, because it is about to wait, perhaps for one of them."""
    if delivery.put_off is not None:
        _run(_taken())


def _run(waiting: "list[tuple[Future[Any], Keys]]") -> None:
    """Run what waits, the last first, and what is put off meanwhile before what is left."""
    interrupt: KeyboardInterrupt | None = None
    before, delivery.put_off = delivery.put_off, None
    delivery.depth += 1
    try:
        while waiting:
            future, keys = waiting.pop()
            callback = future.take_callback(keys)
            if callback is None:
                continue
            waiting.append((future, keys))
            try:
                decided = callback(future)
            except KeyboardInterrupt as error:
                interrupt = error
            except BaseException:  # who completes a future has no part in what others do with it
                logger.exception("A callback of a future failed")
            else:
                if type(callback) is Derivation and decided is not None:
                    following: Any = decided
                    waiting.append((following, iter(list(following._callbacks))))
            waiting += _taken()
    finally:
        delivery.depth -= 1
        delivery.put_off = before
    if interrupt is not None:
        pass_on(interrupt)


def _taken() -> "list[tuple[Future[Any], Keys]]":
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
