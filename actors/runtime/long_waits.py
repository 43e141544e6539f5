"""Long chains of waits: looked at together and a moment later, so that each is looked at once.

A cycle, once closed, stays until somebody ends it, so it need not be found at once. One look at all that
is waited for costs no more than one along the longest chain. And it is not taken again before four times
as long as it took has passed, or a second: so looking takes a fifth of the time, more only for chains so
long that one look takes longer than that. What counts is the processor's time: on a busy machine a look
seems to take long, and nobody is to wait for the next one because of that.
"""

import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.clock import processor_time
from showcaller.actors.runtime.errors import AskCycle
from showcaller.actors.runtime.waits import error_of, lasting_path, owner_of

if TYPE_CHECKING:
    from showcaller.actors.runtime.base_dispatcher import BaseDispatcher
    from showcaller.actors.runtime.futures import Future

SOONEST = 0.01  # seconds
PAUSE = 4.0  # times as long as the last look took
LATEST = 1.0  # seconds

lock = threading.RLock()  # whoever looks for a cycle holds it; a signal handler may look meanwhile


def pause_after(cost: float) -> float:
    """Say how long after a look the next one may be, given what it has cost; in seconds."""
    return min(LATEST, max(SOONEST, PAUSE * cost))


class LongWaits:
    """The replies that actors of one dispatcher wait for and that are still to be looked at. Thread-safe."""

    def __init__(self, dispatcher: "BaseDispatcher") -> None:
        self.dispatcher = dispatcher
        self._replies: dict[Future[Any], None] = {}
        self._due = False
        self._pause = SOONEST

    def add(self, reply: "Future[Any]") -> None:
        """Look at this one soon."""
        with lock:
            self._replies[reply] = None
            due, self._due = self._due, True
        if not due:
            self._look_soon()

    def _look_soon(self) -> None:
        self.dispatcher.timers.after(self._pause, self, None)  # type: ignore[arg-type]

    def tell(self, message: object) -> None:
        """Look at all; called by the timer."""
        began = processor_time()
        with lock:
            replies, self._replies = self._replies, {}
            refused = [end for knot in knots(replies) for end in self._untie(knot, replies)]
            self._due = bool(self._replies)
        self._pause = pause_after(0.0 if self.dispatcher._by_hand else processor_time() - began)
        if self._due:
            self._look_soon()
        for reply, error in refused:
            reply.try_set_exception(error)

    def _untie(
        self, knot: "list[Future[Any]]", replies: "dict[Future[Any], None]"
    ) -> "Iterator[tuple[Future[Any], AskCycle]]":
        """End one reply of those that each must come before each other; look at the rest of them again."""
        mine = [reply for reply in knot if reply in replies]
        while mine:
            reply = mine.pop()
            path = lasting_path(reply, reply)
            if path is not None:
                reply.answerer = None  # from here on nobody else finds it
                self._replies.update(dict.fromkeys(mine))
                yield reply, error_of(path[-1][1], path)
                return


def look_later(dispatcher: "BaseDispatcher", reply: "Future[Any]") -> None:
    """Find out soon whether a reply can never come; it is then ended in the error. Thread-safe."""
    with lock:
        waits = dispatcher.timers.long_waits
        if waits is None:
            waits = dispatcher.timers.long_waits = LongWaits(dispatcher)
    waits.add(reply)


def knots(starts: "Iterable[Future[Any]]") -> "Iterator[list[Future[Any]]]":
    """Give the sets of futures that each must come before each other, as found from ``starts`` on.

    Tarjan's algorithm, without recursion.
    """
    numbers: dict[Future[Any], int] = {}
    lowest: dict[Future[Any], int] = {}
    open_: dict[Future[Any], None] = {}  # in the order of their numbers
    for start in starts:
        if start in numbers:
            continue
        way = [_visit(start, numbers, lowest, open_)]
        while way:
            future, following = way[-1]
            for other in following:
                if other not in numbers:
                    way.append(_visit(other, numbers, lowest, open_))
                    break
                if other in open_:
                    lowest[future] = min(lowest[future], numbers[other])
            else:
                way.pop()
                if way:
                    before = way[-1][0]
                    lowest[before] = min(lowest[before], lowest[future])
                if lowest[future] == numbers[future]:
                    knot = _take_from(open_, future)
                    if len(knot) > 1 or future in owner_of(future)[1]:
                        yield knot


def _visit(
    future: "Future[Any]",
    numbers: "dict[Future[Any], int]",
    lowest: "dict[Future[Any], int]",
    open_: "dict[Future[Any], None]",
) -> "tuple[Future[Any], Iterator[Future[Any]]]":
    numbers[future] = lowest[future] = len(numbers)
    open_[future] = None
    return future, iter(owner_of(future)[1])


def _take_from(open_: "dict[Future[Any], None]", first: "Future[Any]") -> "list[Future[Any]]":
    """Take out what was opened from ``first`` on."""
    taken: list[Future[Any]] = []
    while not taken or taken[-1] is not first:
        taken.append(open_.popitem()[0])
    return taken
