"""What every dispatcher has: a ready queue, a clock with timers, counters, and dead letters."""

import copy
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol, Self

from showcaller.actors.runtime.clock import Clock
from showcaller.actors.runtime.context import enter, leave
from showcaller.actors.runtime.counters import Counters
from showcaller.actors.runtime.envelope import dead
from showcaller.actors.runtime.exits import DeadLetter
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.ref import refuse_foreign
from showcaller.actors.runtime.timers import Timers
from showcaller.actors.runtime.unfailing_log import UnfailingLogger

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.ref import ActorRef

logger = UnfailingLogger("showcaller.actors")


class Runnable(Protocol):
    """What stands in the ready queue: a cell with mail."""

    counters: Counters

    def run_slice(self) -> int:
        """Do one slice of work and give how many messages it took."""
        raise NotImplementedError

    def abandon(self) -> None:
        """End for good, since nobody will run it any more."""


class BaseDispatcher:
    """The part of a dispatcher that does not depend on which thread runs what."""

    _by_hand = False  # whether its actors run only while one thread turns it

    _inherited = False  # whether its threads are those of the process that this one was forked from

    clock: Clock
    """The time that its actors and timers go by; under the test kit one that a test moves."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.timers = Timers(clock, self._timer_added, self.late_reply)
        self._dead_letters = 0
        self._late_replies = 0
        self.suspended: dict[Cell, None] = {}  # cells whose coroutine waits
        self.owing: dict[Cell, None] = {}  # cells that have taken a reply over and not given it
        self._ready: deque[Runnable] = deque()
        self._tally = threading.RLock()
        self._counters: dict[type[Any], Counters] = {}
        self._undertakers: dict[ActorRef[Any], None] = {}

    # -- what each kind of dispatcher does its own way ---------------------------------------------

    def schedule(self, runnable: Runnable) -> None:
        """Let a cell run whose gate the caller holds. Thread-safe, never blocks."""
        raise NotImplementedError

    def wait_for(self, future: Future[Any], timeout: float | None) -> bool:
        """Wait for a future on a thread of this dispatcher; False at the timeout (seconds)."""
        raise NotImplementedError

    def refuse_wait(self, owner: "Cell") -> None:
        """Raise why this thread, which blocks until ``owner`` answers, would wait for ever."""
        if self._inherited:
            raise dead(owner)

    def refuse_start(self, actor_class: type[Any]) -> None:
        """Raise ``DispatcherClosed`` if nobody would run a new actor here."""

    def pin(self) -> "BaseDispatcher":
        """Where a pinned actor runs that is started here."""
        return self

    def unpinned(self) -> "BaseDispatcher":
        """Where an actor runs that is started here and is not pinned."""
        return self

    def will_run(self, runnable: Runnable) -> bool | None:
        """True when a cell is ready or runs here, on another thread than this one; None if that is open."""
        return runnable in self._ready.copy()

    def _timer_added(self) -> None:
        """A timer was added that is due before what we sleep for."""

    # -- counting ----------------------------------------------------------------------------------

    @property
    def dead_letters(self) -> int:
        """How many messages were told and reached nobody: dropped, or their actor ended first."""
        return self._dead_letters

    @property
    def late_replies(self) -> int:
        """How many replies came after their asker's time was over."""
        return self._late_replies

    def dead_letter(self, cell: "Cell", message: Any) -> None:
        """Count a told message that nobody will handle, and tell who watches for them. Thread-safe."""
        with self._tally:
            self._dead_letters += 1
            watchers = list(self._undertakers)
        logger.debug("Dead letter for %s: %s", cell, type(message).__name__)
        for watcher in watchers:
            if watcher.is_alive():
                watcher.post(DeadLetter(cell, message))
            else:
                self.unwatch_dead_letters(watcher)

    def watch_dead_letters(self, watcher: "ActorRef[Any]") -> None:
        """Tell ``watcher`` a ``DeadLetter`` for every one from now on, until it ends. Thread-safe."""
        refuse_foreign(watcher)
        with self._tally:
            self._undertakers[watcher] = None

    def unwatch_dead_letters(self, watcher: "ActorRef[Any]") -> None:
        """Tell ``watcher`` no more of them. Thread-safe."""
        with self._tally:
            self._undertakers.pop(watcher, None)

    def late_reply(self) -> None:
        """Count a reply whose asker had given up. Thread-safe."""
        with self._tally:
            self._late_replies += 1

    def counters_of(self, actor_class: type[Any]) -> Counters:
        """The counters of a class, to count in. Thread-safe."""
        counters = self._counters.get(actor_class)
        if counters is None:
            with self._tally:
                counters = self._counters.setdefault(actor_class, Counters(actor_class))
        return counters

    def counters(self) -> dict[type[Any], Counters]:
        """What the actors of each class have done here so far. Thread-safe; a snapshot."""
        with self._tally:
            return {actor_class: copy.copy(counters) for actor_class, counters in self._counters.items()}

    # -- being the dispatcher of a block -----------------------------------------------------------

    def __enter__(self) -> Self:
        """Let actors that this thread, or this asyncio task, starts inside the ``with`` run here."""
        enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        leave(self)
