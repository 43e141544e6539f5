"""The dispatcher: which cells run, on which threads, and who takes over when a handler blocks.

Exactly one thread, the *runner*, takes cells from the ready queue. When its handler waits in
``future.get()``, or runs longer than the watchdog allows while others wait, the role passes to a spare
thread. A thread that comes back and finds the role taken ends its slice and becomes a spare. Two
runners at a time would be slower than one under the GIL.
"""

import atexit
import logging
import threading
from _thread import LockType, allocate_lock, get_ident
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol, Self

from showcaller.actors.runtime.clock import SYSTEM_CLOCK, Clock
from showcaller.actors.runtime.context import here
from showcaller.actors.runtime.errors import AskCycle, DispatcherExhausted
from showcaller.actors.runtime.futures import Future, wait_in_thread
from showcaller.actors.runtime.timers import Timers
from showcaller.actors.runtime.watchdog import Watchdog

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell

logger = logging.getLogger("showcaller.actors")

SPARES_KEPT = 4  # spare threads kept for the next blocking handler; more of them end


class Runnable(Protocol):
    """What stands in the ready queue: a cell with mail, or a coroutine to go on with."""

    def run_slice(self) -> int:
        """Do one slice of work and give how many messages it took."""


class BaseDispatcher:
    """What every dispatcher has: a ready queue, a clock with timers, and a count of dead letters."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.timers = Timers(clock, self._timer_is_first)
        self.dead_letters = 0
        self._ready: deque[Runnable] = deque()

    def schedule(self, runnable: Runnable) -> None:
        """Let a cell run whose gate the caller holds. Thread-safe, never blocks."""
        raise NotImplementedError

    def wait_for(self, future: Future[Any], timeout: float | None) -> bool:
        """Wait for a future on a thread of this dispatcher; False at the timeout (seconds)."""
        raise NotImplementedError

    def dead_letter(self, cell: "Cell", message: Any) -> None:
        """Count a told message that nobody will handle."""
        self.dead_letters += 1
        logger.debug("Dead letter for %s: %s", cell, type(message).__name__)

    def _timer_is_first(self) -> None:
        """A timer was added that is due before all others."""

    def __enter__(self) -> Self:
        """Let actors that this thread starts inside the ``with`` run here."""
        here.left = (*here.left, here.dispatcher)
        here.dispatcher = self
        return self

    def __exit__(self, *_: object) -> None:
        *left, here.dispatcher = here.left
        here.left = tuple(left)


class _Thread:
    """One thread of a dispatcher: the lock it sleeps on, and what it runs."""

    __slots__ = ("ident", "runnable", "wake")

    def __init__(self) -> None:
        self.wake: LockType = allocate_lock()
        self.wake.acquire()
        self.ident = 0
        self.runnable: Runnable | None = None


class Dispatcher(BaseDispatcher):
    """Runs actors on one thread at a time, with spare threads for handlers that block.

    ``max_blocked`` handlers may wait in ``future.get()`` at once; one more raises
    ``DispatcherExhausted``. ``patience`` is how long (seconds) a slice may run while others wait before
    a spare thread takes over. An idle dispatcher sleeps without polling.
    """

    def __init__(
        self,
        *,
        name: str = "actors",
        clock: Clock = SYSTEM_CLOCK,
        max_blocked: int = 4096,
        patience: float = 0.01,
    ) -> None:
        super().__init__(clock)
        self.name = name
        self.max_blocked = max_blocked
        self.slices = 0  # read by the watchdog: a runner that stands still has not counted on
        self._lock = threading.Lock()
        self._parked: _Thread | None = None  # the runner, while it sleeps
        self._runner: _Thread | None = None
        self._spares: list[_Thread] = []
        self._blocked: dict[Cell, Future[Any]] = {}
        self._threads: set[_Thread] = set()
        self._quiet_waiters: list[threading.Event] = []
        self._closed = False
        self._watchdog = Watchdog(self, patience)

    # -- scheduling --------------------------------------------------------------------------------

    def schedule(self, runnable: Runnable) -> None:
        """Let a cell run whose gate the caller holds. Thread-safe, never blocks."""
        self._ready.append(runnable)
        if self._runner is None or self._parked is not None:
            self._wake_runner()
        elif not self._watchdog.armed:
            self._watchdog.arm()

    def _wake_runner(self) -> None:
        with self._lock:
            if self._parked is not None:
                parked, self._parked = self._parked, None
                parked.wake.release()
            elif self._runner is None and not self._closed:
                self._pass_role()

    def _pass_role(self) -> None:
        """Make a spare, or a new thread, the runner. Called with the lock held."""
        if self._spares:
            self._runner = self._spares.pop()
            self._runner.wake.release()
            return
        self._runner = thread = _Thread()
        self._threads.add(thread)
        threading.Thread(target=self._run, args=(thread,), name=self.name, daemon=True).start()

    def _timer_is_first(self) -> None:
        if self._runner is None or self._parked is not None:
            self._wake_runner()

    @property
    def work_waits(self) -> bool:
        """True while cells are ready that nobody runs."""
        return bool(self._ready)

    def take_over(self, slices: int) -> None:
        """Pass the role on, if the runner is still in the slice with that number (for the watchdog)."""
        with self._lock:
            if self.slices == slices and self._runner is not None and self._parked is None:
                self._pass_role()

    # -- a thread's life ---------------------------------------------------------------------------

    def _run(self, thread: _Thread) -> None:
        here.dispatcher = self
        thread.ident = get_ident()
        ready = self._ready
        until_timers = 0
        while True:
            if self._runner is not thread:
                if not self._rest(thread):
                    return
                continue
            if until_timers <= 0:
                until_timers = 64
                self.timers.fire_due()
            try:
                runnable = ready.popleft()
            except IndexError:
                if not self._park(thread):
                    return
                until_timers = 0
                continue
            self.slices += 1
            until_timers -= 1
            thread.runnable = runnable
            try:
                runnable.run_slice()
            except BaseException:
                logger.exception("A fault of the runtime in a slice of %r", runnable)
            thread.runnable = None
            if self._quiet_waiters:
                self._tell_quiet()

    def _park(self, thread: _Thread) -> bool:
        """Sleep until there is work or a timer is due; False when the dispatcher is closed."""
        due = self.timers.next_due()
        with self._lock:
            if self._runner is not thread:
                return True
            self._parked = thread
            if self._ready:  # added between our look and our parking
                self._parked = None
                return True
            if self._closed:
                self._leave(thread)
                return False
        later = self.timers.next_due()  # one added meanwhile saw nobody parked
        if later is not None and (due is None or later < due):
            due = later
        timeout = -1.0 if due is None else min(max(0.0, due - self.clock.monotonic()), 4_000_000.0)
        if not thread.wake.acquire(timeout=timeout):
            with self._lock:
                if self._parked is thread:
                    self._parked = None
                else:  # woken at the same moment
                    thread.wake.acquire()
        return True

    def _rest(self, thread: _Thread) -> bool:
        """Wait as a spare for the role; False when the thread is to end."""
        with self._lock:
            if self._runner is thread:
                return True
            if self._closed or len(self._spares) >= SPARES_KEPT:
                self._threads.discard(thread)
                return False
            self._spares.append(thread)
        thread.wake.acquire()
        return True

    def _leave(self, thread: _Thread) -> None:
        self._parked = None
        if self._runner is thread:
            self._runner = None
        self._threads.discard(thread)

    # -- blocking ----------------------------------------------------------------------------------

    def wait_for(self, future: Future[Any], timeout: float | None) -> bool:
        """Wait for a future in a handler, while another thread runs the other actors.

        Raises ``AskCycle`` when the reply is owed by an actor that waits, over any chain, for this one,
        and ``DispatcherExhausted`` when ``max_blocked`` handlers wait already.
        """
        cell = here.cell
        if cell is None:  # a thread inside ``with dispatcher:``, not one of ours
            return wait_in_thread(future, timeout)
        with self._lock:
            self._refuse_cycle(cell, future)
            if len(self._blocked) >= self.max_blocked:
                raise DispatcherExhausted(
                    f"{cell} would be one more than {self.max_blocked} handlers waiting for a reply: "
                    f"{self._chain(cell, future)}; await the reply (ref.request) instead of blocking on it"
                )
            self._blocked[cell] = future
            if self._runner is not None and self._runner.ident == get_ident():
                self._runner = None  # whoever schedules next finds a thread for it
        if self._ready or self.timers.next_due() is not None:
            self._wake_runner()
        try:
            return wait_in_thread(future, timeout)
        finally:
            with self._lock:
                del self._blocked[cell]

    def _refuse_cycle(self, cell: "Cell", future: Future[Any]) -> None:
        path = [cell]
        waits_for = future
        while (answerer := waits_for.answerer) is not None:
            path.append(answerer)
            if answerer is cell:
                names = " → ".join(str(member) for member in path)
                raise AskCycle(f"this reply can never come, each waits for the next: {names}")
            following = self._blocked.get(answerer)
            if following is None:
                return
            waits_for = following

    def _chain(self, cell: "Cell", future: Future[Any]) -> str:
        path = [str(cell)]
        waits_for: Future[Any] | None = future
        while waits_for is not None and waits_for.answerer is not None and len(path) < 10:
            path.append(str(waits_for.answerer))
            waits_for = self._blocked.get(waits_for.answerer)
        return " → ".join(path)

    # -- the end -----------------------------------------------------------------------------------

    def _has_mail(self) -> bool:
        """True while an actor that is no daemon has mail, is running, or is blocked in its handler."""
        running = [thread.runnable for thread in self._threads]
        return any(_holds_program(runnable) for runnable in (*self._ready, *running, *self._blocked))

    def wait_quiet(self, timeout: float | None = None) -> bool:
        """Wait until no actor has mail (daemon actors do not count); False at the timeout (seconds)."""
        quiet = threading.Event()
        with self._lock:
            if not self._has_mail():
                return True
            self._quiet_waiters.append(quiet)
        return quiet.wait(timeout)

    def _tell_quiet(self) -> None:
        with self._lock:
            if not self._has_mail():
                waiters, self._quiet_waiters = self._quiet_waiters, []
                for quiet in waiters:
                    quiet.set()

    def close(self) -> None:
        """End the threads once the ready queue is empty; actors that get mail later do not run."""
        with self._lock:
            self._closed = True
            spares, self._spares = self._spares, []
            for spare in spares:
                spare.wake.release()
            if self._parked is not None:
                parked, self._parked = self._parked, None
                parked.wake.release()
        self._watchdog.close()


def _holds_program(runnable: Runnable | None) -> bool:
    actor_class = getattr(runnable, "actor_class", None)
    return runnable is not None and not getattr(actor_class, "use_daemon_thread", False)


_default_lock = threading.Lock()
_default: Dispatcher | None = None


def default_dispatcher() -> Dispatcher:
    """The process's own dispatcher, made on first use."""
    global _default
    if _default is None:
        with _default_lock:
            if _default is None:
                _default = Dispatcher()
                atexit.register(_finish_mail, _default)
    return _default


def _finish_mail(dispatcher: Dispatcher) -> None:
    """Let the program end only when its actors have handled their mail, or at Ctrl-C."""
    try:
        dispatcher.wait_quiet()
    except KeyboardInterrupt:
        logger.info("Interrupted while actors had mail: it is dropped")


__all__ = ["BaseDispatcher", "Dispatcher", "Runnable", "default_dispatcher"]
