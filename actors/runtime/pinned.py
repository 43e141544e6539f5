"""A thread of its own for an actor that blocks by nature."""

import queue
import threading
from _thread import allocate_lock
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.base_dispatcher import BaseDispatcher, Runnable
from showcaller.actors.runtime.context import Turn, here
from showcaller.actors.runtime.counters import Counters
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.unfailing_log import UnfailingLogger

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.dispatcher import Dispatcher
    from showcaller.actors.runtime.ref import ActorRef

logger = UnfailingLogger("showcaller.actors")


class PinnedThread(BaseDispatcher):
    """Runs one actor; clock, timers and counters are those of the dispatcher it was started on.

    The thread starts with the first mail and ends with the actor. What is scheduled after that goes
    home: ``_lock`` decides which of the two it is. Home goes an actor as well for which no thread can be
    had.
    """

    def __init__(self, home: "Dispatcher") -> None:
        self.home = home
        self.clock = home.clock
        self.timers = home.timers
        self.suspended = home.suspended
        self.owing = home.owing
        self.cell: Any = None
        self._waiting: queue.SimpleQueue[Runnable | None] = queue.SimpleQueue()
        self._lock = threading.RLock()
        self.over = allocate_lock()  # held until the thread's turns are over
        self.over.acquire()
        self._open = 0  # slices scheduled and not yet done
        self._started = False
        self._runs = False  # a thread is there
        self._ended = False

    @property
    def has_mail(self) -> bool:
        """True while the actor runs or is to run."""
        return self._open > 0

    def pin(self) -> BaseDispatcher:
        """Give a new thread, beside this one."""
        return self.home.pin()

    def unpinned(self) -> BaseDispatcher:
        """Nobody shares this thread."""
        return self.home

    def schedule(self, runnable: Runnable) -> None:
        """Let the cell run. Thread-safe, never blocks."""
        with self._lock:
            fault = None if self._started or self._ended else self._start(runnable)
            ended = self._ended
            if not ended:
                self._open += 1
                self.cell = runnable
                self._waiting.put(runnable)
        if fault is not None:
            self.home.forget_pinned(self)
            logger.error("No thread for %s: it runs among those that share one", runnable, exc_info=fault)
        if ended:
            self.home.schedule(runnable)

    def _start(self, runnable: Runnable) -> Exception | None:
        """Start the thread, unless the home is closed, or give the reason why none can be had."""
        if not self.home.adopt(self):
            self._ended = True
            return None
        name = f"{self.home.name}-{runnable.counters.actor_class.__name__}"
        try:
            threading.Thread(target=self._run, name=name, daemon=True).start()
        except Exception as error:
            self._ended = True
            return error
        self._started = True
        return None

    def will_run(self, runnable: Runnable) -> bool | None:
        """True while the actor runs or is to run; at home it may be when the thread has ended."""
        with self._lock:
            return self._open > 0 or (self.home.will_run(runnable) if self._ended else False)

    def close(self) -> None:
        """End the thread when it has done what is scheduled. Thread-safe."""
        with self._lock:
            if not self._started:
                self._ended = True
            self._waiting.put(None)

    def _run(self) -> None:
        with self._lock:
            if self._runs:
                return  # whoever started the first one was interrupted, and could not know that it runs
            self._runs = True
        here.dispatcher = self.home
        here.turn = turn = Turn()
        now = self.clock.monotonic
        while (runnable := self._waiting.get()) is not None:
            before = now()
            turn.runnable = runnable
            try:
                taken = runnable.run_slice()
            except BaseException:
                taken = 0
                logger.exception("A fault of the runtime in a slice of %r", runnable)
            turn.runnable = None
            runnable.counters.note_slice(taken, now() - before)
            if self.home._halted or self._done(runnable):
                break
        if not self.home._halted:
            self._end()
        self.over.release()

    def _done(self, runnable: Any) -> bool:
        with self._lock:
            self._open -= 1
        if self.home._quiet.waiters:
            self.home._quiet.look()
        if self.home._starved is not None:
            self.home._look_again()
        return runnable._actor is None

    def _end(self) -> None:
        with self._lock:
            self._ended = True
            left = []
            while not self._waiting.empty():
                left.append(self._waiting.get())
            self._open = 0
        for runnable in left:
            if runnable is not None:
                self.home.schedule(runnable)
        self.home.pinned_ended(self)

    # -- everything else is the home's -------------------------------------------------------------

    @property
    def dead_letters(self) -> int:
        """Those of the home."""
        return self.home.dead_letters

    @property
    def late_replies(self) -> int:
        """Those of the home."""
        return self.home.late_replies

    def dead_letter(self, cell: "Cell", message: Any) -> None:
        """Count at home."""
        self.home.dead_letter(cell, message)

    def watch_dead_letters(self, watcher: "ActorRef[Any]") -> None:
        """Watch those of the home."""
        self.home.watch_dead_letters(watcher)

    def unwatch_dead_letters(self, watcher: "ActorRef[Any]") -> None:
        """Watch no more."""
        self.home.unwatch_dead_letters(watcher)

    def late_reply(self) -> None:
        """Count at home."""
        self.home.late_reply()

    def counters_of(self, actor_class: type[Any]) -> Counters:
        """Count at home."""
        return self.home.counters_of(actor_class)

    def counters(self) -> dict[type[Any], Counters]:
        """Those of the home."""
        return self.home.counters()

    def wait_for(self, future: Future[Any], timeout: float | None) -> bool:
        """Wait as the home's handlers do."""
        return self.home.wait_for(future, timeout)
