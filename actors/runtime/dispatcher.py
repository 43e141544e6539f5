"""The dispatcher: which cells run, on which threads, and who takes over when a handler blocks.

Exactly one thread, the *runner*, takes cells from the ready queue. When its handler waits in
``future.get()``, or runs longer than the watchdog allows while others wait, the role passes to a spare
thread. A thread that comes back and finds the role taken ends its slice and becomes a spare. Two
runners at a time would be slower than one under the GIL; should two overlap for a moment, nothing is
lost, since the gate of each cell keeps them apart.

No wake-up is lost, because each side writes first and looks second. Who schedules appends to the ready
queue and then looks for a parked or absent runner; who parks (or gives up the role) says so and then
looks at the queue once more. ``_runner``, ``_parked`` and ``_spares`` change only under ``_lock``; a
thread is woken only by who takes it out of ``_parked`` or ``_spares`` under that lock, so it is woken
exactly once for each time it sleeps.
"""

import threading
from _thread import get_ident
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.base_dispatcher import BaseDispatcher, Runnable
from showcaller.actors.runtime.blocking import wait_blocked
from showcaller.actors.runtime.clock import SYSTEM_CLOCK, Clock
from showcaller.actors.runtime.closing import abandon, close, end_waiting, halt
from showcaller.actors.runtime.context import BETWEEN, here
from showcaller.actors.runtime.dispatcher_options import refuse_nonsense
from showcaller.actors.runtime.errors import DispatcherClosed
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.pinned import PinnedThread
from showcaller.actors.runtime.program_end import PROGRAM_END
from showcaller.actors.runtime.quiet import Quiet
from showcaller.actors.runtime.slow import SlowWatch
from showcaller.actors.runtime.threads import DispatcherThread
from showcaller.actors.runtime.unfailing_log import UnfailingLogger
from showcaller.actors.runtime.watchdog import Watchdog

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell

logger = UnfailingLogger("showcaller.actors")

SPARES_KEPT = 4  # spare threads kept for the next blocking handler; more of them end
UNTIL_TIMERS = 64  # slices between two looks at the timers, while there is always work,
UNTIL_TIMERS_SECONDS = 0.005  # or less time, if the slices are long


class Dispatcher(BaseDispatcher):
    """Runs actors on one thread at a time, with spare threads for handlers that block.

    ``max_blocked`` handlers may wait in ``future.get()`` at once; one more raises
    ``DispatcherExhausted``. A slice that has run for ``patience`` seconds while others wait is overtaken
    by a spare thread, and one that is still not over after ``slow_after`` more is logged as a warning
    that names the handler. While a timer hangs on the wall clock, a jump of that clock is noticed within
    ``wall_check`` seconds. Otherwise an idle dispatcher sleeps without polling.

    A program ends when the actors of all its dispatchers have handled their mail (daemon actors do not
    count); Ctrl-C ends it before. In a forked child it is closed and its actors are dead: new ones start on
    the child's own dispatcher, and a reply that the parent's actors owe comes to the parent only.
    """

    _why_closed = "which was closed"

    def __init__(
        self,
        *,
        name: str = "actors",
        clock: Clock = SYSTEM_CLOCK,
        max_blocked: int = 4096,
        patience: float = 0.01,
        slow_after: float = 1.0,
        wall_check: float = 1.0,
    ) -> None:
        refuse_nonsense(name, clock, max_blocked, patience, slow_after, wall_check)
        super().__init__(clock)
        self.name = name
        self.max_blocked = max_blocked
        self.slow_after = slow_after
        self.wall_check = wall_check
        self._lock = threading.RLock()  # a signal handler may send while its thread sends
        self._parked: DispatcherThread | None = None  # the runner, while it sleeps
        self._runner: DispatcherThread | None = None
        self._spares: list[DispatcherThread] = []
        self._blocked: dict[Cell, None] = {}
        self._threads: dict[DispatcherThread, None] = {}
        self._pinned: dict[PinnedThread, None] = {}
        self._closed = False
        self._halted = False  # closed, and nothing more is seen to
        self._starved: Exception | None = None  # why no thread could be had the last time
        self._starving = False  # that is said already
        self._quiet = Quiet(self)
        self._watchdog = Watchdog(self, patience)
        PROGRAM_END.wait_for(self)

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
        if self._starved is not None:
            self._watchdog.arm()
            if not self._starving:
                self._starving = True
                logger.error(
                    "No thread for actors of %r: their mail waits", self.name, exc_info=self._starved
                )
        if self._closed and self._runner is None:
            abandon(self)

    def _pass_role(self) -> bool:
        """Make a spare, or a new thread, the runner. Called with the lock held.

        False when no thread can be had: what is ready stays so. The watchdog, the next thread that
        comes back from its handler, and whoever schedules a cell next try again.
        """
        if self._spares:
            self._runner = self._spares[-1]
            del self._spares[-1]  # no call before the spare is woken: a signal could come in between
            self._runner.wake.release()
            return True
        before, self._runner = self._runner, DispatcherThread()
        passed = False
        try:
            threading.Thread(target=self._run, args=(self._runner,), name=self.name, daemon=True).start()
            passed, self._starved, self._starving = True, None, False
        except Exception as error:
            self._starved = error
        finally:
            if not passed:
                self._runner = before  # should it have started nevertheless, it becomes a spare
        return passed

    def _timer_added(self) -> None:
        if self._runner is None or self._parked is not None:
            self._wake_runner()
        elif not self._watchdog.armed:
            self._watchdog.arm()

    def refuse_start(self, actor_class: type[Any]) -> None:
        """Raise ``DispatcherClosed`` if nobody would run a new actor here."""
        if self._closed and self._runner is None:
            raise DispatcherClosed(
                f"{actor_class.__name__} cannot start on {self.name!r}, {self._why_closed}"
            )

    def pin(self) -> BaseDispatcher:
        """Give a new thread for one pinned actor."""
        return PinnedThread(self)

    def adopt(self, pinned: PinnedThread) -> bool:
        """Know of a pinned actor's thread that is to start; False when we are closed. Thread-safe."""
        with self._lock:
            if self._closed:
                return False
            self._pinned[pinned] = None
            return True

    def forget_pinned(self, pinned: PinnedThread) -> None:
        """No longer know of a pinned actor's thread. Thread-safe."""
        with self._lock:
            self._pinned.pop(pinned, None)

    def pinned_ended(self, pinned: PinnedThread) -> None:
        """No longer know of a pinned actor's thread, and end what it waits for if we are closed."""
        self.forget_pinned(pinned)
        if self._closed:
            end_waiting(self)

    # -- what the watchdog sees and does -----------------------------------------------------------

    @property
    def busy(self) -> bool:
        """True while the runner is in a slice, or missing, and something may come to wait for it."""
        return bool(self._ready) or (self._parked is None and not self._closed and len(self.timers) > 0)

    @property
    def work_waits(self) -> bool:
        """True while cells are ready, or timers due, for which nobody has time."""
        if self._ready:
            return True
        if self._parked is not None:
            return False
        due = self.timers.next_look()
        return due is not None and due <= self.clock.monotonic()

    def take_over(self, patience: float) -> None:
        """Pass the role on, if nobody has it or the runner's slice has run for ``patience`` seconds."""
        with self._lock:
            overtaken = self._runner
            if self._parked is not None or self._closed:
                return
            if overtaken is None:
                self._pass_role()
                return
            if overtaken.runnable is None or overtaken.runnable is BETWEEN:
                return  # it is in no slice: it waits for the processor, as another one would
            if self.clock.monotonic() - overtaken.since < patience:
                return
            if not self._pass_role():
                return
            watch = overtaken.watch = SlowWatch(self, overtaken, self.slow_after)
        self.timers.after(self.slow_after, watch, None)  # type: ignore[arg-type]

    def is_blocked(self, runnable: Any) -> bool:
        """True while the handler of this cell waits in ``future.get()``."""
        return runnable in self._blocked

    def will_run(self, runnable: Runnable) -> bool | None:
        """As every dispatcher; a thread between two slices may just have taken the cell: then None."""
        running = self._runs(runnable)  # what runs now may be ready next, and what is ready may run next
        return running or super().will_run(runnable) or (self._runs(runnable) if running is False else None)

    def _runs(self, runnable: Runnable) -> bool | None:
        with self._lock:
            running = [thread.runnable for thread in self._threads if thread.ident != get_ident()]
        return True if runnable in running else None if BETWEEN in running else False

    # -- a thread's life ---------------------------------------------------------------------------

    def _run(self, thread: DispatcherThread) -> None:
        here.dispatcher = self
        here.turn = thread
        thread.ident = get_ident()
        with self._lock:
            self._threads[thread] = None
        try:
            self._take_turns(thread)
        except BaseException:
            logger.exception("A fault of the runtime ends a thread of %r: another one goes on", self.name)
            self._replace(thread)

    def _replace(self, thread: DispatcherThread) -> None:
        with self._lock:
            if self._parked is thread:
                self._parked = None
            self._leave(thread)
        self._look_again()

    def _look_again(self) -> None:
        """See to what was scheduled while it seemed that there was a runner."""
        if self._ready or len(self.timers):
            self._wake_runner()

    def _take_turns(self, thread: DispatcherThread) -> None:  # noqa: C901 - calls would cost more
        thread.since = self.clock.monotonic()
        ready, timers, now = self._ready, self.timers, self.clock.monotonic
        until_timers, look_at = 0, 0.0
        while True:
            if self._runner is not thread:
                if not self._rest(thread):
                    return
                thread.since = now()
                continue
            if until_timers <= 0 or thread.since > look_at:
                until_timers, look_at = UNTIL_TIMERS, thread.since + UNTIL_TIMERS_SECONDS
                if len(timers):
                    self._look_at_timers()
            try:
                runnable = ready.popleft()
            except IndexError:
                if not self._park(thread):
                    return
                until_timers = 0
                thread.since = now()
                continue
            thread.runnable = runnable
            until_timers -= 1
            try:
                taken = runnable.run_slice()
            except BaseException:
                taken = 0
                logger.exception("A fault of the runtime in a slice of %r", runnable)
            after = now()
            counters = runnable.counters
            counters.messages += taken
            counters.seconds += after - thread.since
            if taken > counters.high_water:  # noqa: PLR1730 - a call would cost more
                counters.high_water = taken
            thread.since = after
            thread.runnable = BETWEEN
            if self._quiet.waiters:
                self._quiet.look(but=thread)

    def _look_at_timers(self) -> None:
        try:
            self.timers.fire_due()
        except BaseException:
            logger.exception("A timer or a callback of an overdue reply failed")
        if not self._watchdog.armed and len(self.timers):
            self._watchdog.arm()

    def _park(self, thread: DispatcherThread) -> bool:
        """Sleep until there is work or a timer is due; False when the dispatcher is closed."""
        with self._lock:
            if self._runner is not thread:
                return True
            self._parked = thread
        due = self.timers.sleep_until()
        with self._lock:
            if self._parked is thread and self._ready:
                self._parked = None
                return True
            ends = self._closed and (self._parked is thread or self._halted)
            if ends:
                self._parked = None
                self._leave(thread)
            thread.runnable = None
            if self._quiet.waiters:
                self._quiet.look_locked(but=thread)
        if ends:
            end_waiting(self)
            return False
        if not thread.wake.acquire(timeout=self.timers.seconds_until(due, self.wall_check)):
            with self._lock:
                if self._parked is thread:
                    self._parked = None
                else:  # woken at the same moment
                    thread.wake.acquire()
        thread.runnable = BETWEEN
        self.timers.awake()
        return True

    def _rest(self, thread: DispatcherThread) -> bool:
        """Wait as a spare for the role; False when the thread is to end."""
        thread.watch = None
        with self._lock:
            if self._runner is thread:
                return True
            if self._runner is None and not self._closed and (self._ready or len(self.timers)):
                self._runner = thread  # no thread could be had when it was looked for
                return True
            thread.runnable = None
            if self._quiet.waiters:
                self._quiet.look_locked(but=thread)
            ends = self._closed or len(self._spares) >= SPARES_KEPT
            if ends:
                self._leave(thread)
            else:
                self._spares.append(thread)
        if ends:
            if self._closed:
                end_waiting(self)
            return False
        thread.wake.acquire()
        thread.runnable = BETWEEN
        return True

    def _leave(self, thread: DispatcherThread) -> None:
        if self._runner is thread:
            self._runner = None
        if self._threads.pop(thread, thread) is None:
            thread.over.release()

    # -- blocking ----------------------------------------------------------------------------------

    def wait_for(self, future: Future[Any], timeout: float | None) -> bool:
        """Wait for a future in a handler, while another thread runs the other actors.

        Raises ``AskCycle`` when the reply is owed by an actor that waits, over any chain, for this one,
        and ``DispatcherExhausted`` when ``max_blocked`` handlers wait already.
        """
        return wait_blocked(self, future, timeout)

    # -- the end -----------------------------------------------------------------------------------

    def wait_quiet(self, timeout: float | None = None) -> bool:
        """Wait until no actor has mail (daemon actors do not count); False at the timeout (seconds)."""
        if self._starved is not None:
            self._look_again()
        return self._quiet.wait(timeout)

    def close(self) -> None:
        """End the threads once the ready queue is empty; from then on nobody runs here.

        Who gets mail later ends as killed: the first message that it is told is a dead letter, others and
        every ask are refused (``ActorDeadError``), and no actor starts (``DispatcherClosed``). Actors whose
        coroutine waits, or who owe a reply, end as killed, timers are dropped, and replies that were asked
        for with a timeout are overdue when the threads end. Stop your actors first. Thread-safe.
        """
        close(self)

    def halt(self, seconds: float) -> None:
        """If anybody works, run no slice more, and wait so long for those that run: Python is about to end.

        As after ``close`` nobody runs here then; what is ready stays undone.
        """
        halt(self, seconds)
