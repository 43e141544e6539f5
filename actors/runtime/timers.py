"""Timers of one dispatcher: messages told when a monotonic time, or a wall-clock time, has come."""

import math
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pykka

from showcaller.actors.runtime.choices import is_a
from showcaller.actors.runtime.clock import Clock
from showcaller.actors.runtime.errors import DispatcherClosed, MailboxFull, ReplyOverdue
from showcaller.actors.runtime.wall_time import seconds_of
from showcaller.actors.runtime.wheel import Wheel

if TYPE_CHECKING:
    from showcaller.actors.runtime.futures import Future
    from showcaller.actors.runtime.long_waits import LongWaits
    from showcaller.actors.runtime.ref import ActorRef

INBOX = 1_024  # new or cancelled timers that may wait to be sorted in
AT_ONCE = 1_024  # timers fired before actors get their turn again
LONGEST_SLEEP = 4_000_000.0  # seconds that a lock can be waited for
LONGEST = 1e11  # seconds: what is later is a mistake
SHORTEST = 1e-6  # seconds between two times of a repeated timer: what is shorter is a mistake


def refuse_no_time(seconds: float, what: str = "a timer must be due in") -> None:
    """Raise ``TypeError`` or ``ValueError`` for what no timer can wait, and nobody for a reply."""
    kind: type[Exception] = ValueError
    try:
        if -LONGEST < seconds < LONGEST:
            return
    except TypeError:
        kind = TypeError
    raise kind(f"{what} fewer than {LONGEST:.0e} seconds, not {seconds!r}")


class Timer:
    """A message that will be told when its time has come; made by ``tell_after`` and its like."""

    __slots__ = ("_interval", "_life", "_message", "_ref", "_timers", "due")

    def __init__(self, timers: "Timers", due: float, ref: Any, message: Any, interval: float | None) -> None:
        self._timers = timers
        self.due = due
        self._ref: Any = ref
        self._message = message
        self._interval = interval
        self._life: dict[Timer, None] | None = None  # the timers of the life that ends this one

    def belong_to(self, life: "dict[Timer, None]") -> None:
        """Stand among the timers of a life until this one fires for the last time, or is cancelled."""
        self._life = life
        life[self] = None
        if self._ref is None:  # it is over already, and who saw to that may have looked before
            life.pop(self, None)

    def over(self) -> None:
        """Hold nothing any more; called by who has the lock."""
        self._ref = self._message = None
        if self._life is not None:
            self._life.pop(self, None)
            self._life = None

    @property
    def active(self) -> bool:
        """True until it was cancelled or has fired for the last time."""
        return self._ref is not None

    def cancel(self) -> bool:
        """Never fire (again); True if that was in time. Thread-safe.

        After True, one that was to fire once does not; a repeated one may be about to tell a last time.
        """
        return self._timers.cancel(self)


class _WallTimer(Timer):
    """A timer on the wall clock: while there is an active one, that clock is looked at."""

    __slots__ = ()


class _Expiry:
    """Told like an actor when a reply is overdue: ends the future in a timeout."""

    __slots__ = ("asked", "future", "late", "seconds")

    def __init__(self, future: "Future[Any]", seconds: float, late: Callable[[], None]) -> None:
        self.asked = future.answerer  # who has taken the reply when it is overdue may be nobody we know
        self.future = future
        self.seconds = seconds
        self.late = late

    def tell(self, message: object) -> None:
        self.future.try_set_exception(ReplyOverdue(self.asked, self.seconds, self.late))


class _Alarm:
    """Told like an actor when a sleep is over, with None, or that it never will be."""

    __slots__ = ("future", "seconds")

    def __init__(self, future: "Future[None]", seconds: float) -> None:
        self.future = future
        self.seconds = seconds

    def tell(self, message: object) -> None:
        if message is None:
            self.future.try_set(None)
        else:
            closed = f"the dispatcher was closed before {self.seconds} seconds had passed"
            self.future.try_set_exception(DispatcherClosed(closed))

    def is_alive(self) -> bool:
        return True


class Timers:
    """The timers of one dispatcher, its ``timers``; refs have ``tell_after`` and its like. Thread-safe."""

    # A new timer goes to an inbox by one atomic append; who fires timers sorts it in. `added_early` is
    # called after a timer was put in that is due before `wakes_at`, so that a sleeper can wake.
    # `wakes_at` is infinite until the sleeper has sorted in what there is: one added before is sorted in,
    # one added later either sees the infinite time and reports, or sees when the sleeper wakes. Firing
    # takes the message out under the lock, where `cancel` also looks: exactly one of them gets it.

    # A signal handler that comes in while its thread has the lock may mark a timer, and leaves the wheels.

    def __init__(self, clock: Clock, added_early: Callable[[], None], late: Callable[[], None]) -> None:
        self.clock = clock
        self.wakes_at = math.inf
        self._added_early = added_early
        self._late = late
        self._inbox: list[Timer] = []
        self._wheel: Wheel[Timer] = Wheel()
        self._wall: Wheel[Timer] = Wheel()
        self._on_wall = 0  # those of them that are active
        self._cancelled = 0
        self._lock: Any = threading.RLock()
        self.long_waits: LongWaits | None = None  # made by the first of them

    # -- making and cancelling ---------------------------------------------------------------------

    def after(
        self, seconds: float, ref: "ActorRef[Any]", message: Any, interval: float | None = None
    ) -> Timer:
        """Tell ``message`` to ``ref`` ``seconds`` from now (below 0 counts as 0), then every ``interval``."""
        refuse_no_time(seconds)
        due = self.clock.monotonic()
        if seconds > 0:
            due += seconds
        timer = Timer(self, due, ref, message, interval)
        self._inbox.append(timer)
        if due < self.wakes_at:
            self._added_early()
        if len(self._inbox) > INBOX:
            nobody_else = not self._lock._is_owned()
            with self._lock:
                if nobody_else:
                    self._sort_in()
        return timer

    def every(self, seconds: float, ref: "ActorRef[Any]", message: Any) -> Timer:
        """Tell ``message`` to ``ref`` every ``seconds`` (a microsecond or more), first ``seconds`` from now.

        The times do not drift; those missed because the process stood still are left out.
        """
        if not is_a(seconds, int, float):
            raise TypeError(f"an interval is a number of seconds, not {seconds!r}")
        if not seconds > 0:
            raise ValueError(f"an interval must be above 0 seconds, not {seconds!r}")
        if seconds < SHORTEST:
            raise ValueError(f"an interval must be at least {SHORTEST:.0e} seconds, not {seconds!r}")
        return self.after(seconds, ref, message, seconds)

    def at(self, wall: int | datetime, ref: "ActorRef[Any]", message: Any) -> Timer:
        """Tell ``message`` to ``ref`` once the wall clock shows ``wall`` (milliseconds since the epoch).

        A jump of the wall clock counts: noticed within ``Dispatcher.wall_check`` seconds.
        """
        timer = _WallTimer(self, seconds_of(wall, self.clock.wall()), ref, message, None)
        with self._lock:
            self._inbox.append(timer)
            self._on_wall += 1
        self._added_early()
        return timer

    def expire(self, future: "Future[Any]", seconds: float) -> None:
        """End ``future`` in ``pykka.Timeout`` unless it is done within ``seconds``."""
        timer = self.after(seconds, _Expiry(future, seconds, self._late), None)  # type: ignore[arg-type]
        future.add_done_callback(lambda _: timer.cancel())

    def wake(self, future: "Future[None]", seconds: float, left: float | None = None) -> Timer:
        """Set ``future`` in ``seconds``, or end it in ``DispatcherClosed`` if the timers end before.

        ``left``: how many of them are still to come, if not all.
        """
        alarm: Any = _Alarm(future, seconds)
        return self.after(seconds if left is None else left, alarm, None)

    def cancel(self, timer: Timer) -> bool:
        """Forget a timer; False when it has fired for the last time. Thread-safe."""
        nobody_else = not self._lock._is_owned()
        with self._lock:
            if timer._ref is None:
                return False
            timer.over()
            self._cancelled += 1
            if type(timer) is _WallTimer:
                self._on_wall -= 1
            if nobody_else:
                self._tidy()
        return True

    def _tidy(self) -> None:
        """Forget cancelled timers, if they are many; after the last on the wall clock, all of those."""
        if not self._on_wall and self._wall.size:
            self._wall.clear()
        if self._cancelled > INBOX and self._cancelled > (self._wheel.size + self._wall.size) // 2:
            self._sort_in()
            self._wheel.sweep()
            self._wall.sweep()
            self._cancelled = 0

    def _sort_in(self) -> None:
        new = self._inbox[:]
        del self._inbox[: len(new)]
        for timer in new:
            if timer._ref is not None:
                (self._wall if type(timer) is _WallTimer else self._wheel).add(timer)

    def __len__(self) -> int:
        """How many timers are held; cancelled ones may count for a while."""
        return self._wheel.size + self._wall.size + len(self._inbox)

    # -- waiting for them --------------------------------------------------------------------------

    @property
    def follow_wall(self) -> bool:
        """True while a timer depends on the wall clock."""
        return self._on_wall > 0

    def next_look(self) -> float | None:
        """The time (monotonic) until which nothing is due; None without timers. A little early at times."""
        with self._lock:
            self._sort_in()
            return self._merged(self._wheel.earliest(), self._wall.earliest())

    def next_due(self) -> float | None:
        """When (monotonic) the next timer fires, if the wall clock does not jump; None without one."""
        with self._lock:
            self._sort_in()
            return self._merged(self._wheel.exact(), self._wall.exact())

    def _merged(self, due: float | None, wall: float | None) -> float | None:
        if wall is None:
            return due
        from_wall = self.clock.monotonic() + wall - self.clock.wall() / 1000
        return from_wall if due is None else min(due, from_wall)

    def sleep_until(self) -> float | None:
        """As ``next_look``, for somebody who goes to sleep: timers added from now on wake if due earlier."""
        due = self.next_look()
        self.wakes_at = math.inf if due is None else due
        return due

    def seconds_until(self, due: float | None, wall_check: float) -> float:
        """How long to sleep on a lock, -1 being for ever: no longer than that while the wall clock counts."""
        if due is None:
            return -1.0
        return min(max(0.0, due - self.clock.monotonic()), wall_check if self.follow_wall else LONGEST_SLEEP)

    def awake(self) -> None:
        """Nobody sleeps for timers any more: each that is added is reported."""
        self.wakes_at = math.inf

    # -- firing ------------------------------------------------------------------------------------

    def fire_due(self) -> int:
        """Tell what is due now, in order of time, but only so many at once; gives how many fired.

        An error that one of them ends in is raised when all are told.
        """
        if not len(self):
            return 0
        with self._lock:
            self._sort_in()
            now = self.clock.monotonic()
            due = self._wheel.take_due(now, AT_ONCE)
            if self.follow_wall:
                due += self._wall.take_due(self.clock.wall() / 1000, AT_ONCE)
            told = [self._fire(timer, now) for timer in due if timer._ref is not None and not _is_vain(timer)]
        self._tell(told)
        return len(told)

    def give_up(self) -> None:
        """Drop all timers, since nobody will fire any more; replies that they limit are overdue now.

        Who sleeps is told that the dispatcher was closed.
        An error of a callback of such a reply is raised when all are told.
        """
        with self._lock:
            self._sort_in()
            overdue = []
            for timer in self._wheel.clear() + self._wall.clear():
                if isinstance(timer._ref, _Expiry | _Alarm):
                    overdue.append((timer._ref, "given up"))
                timer.over()
            self._cancelled = self._on_wall = 0
        self._tell(overdue)

    @staticmethod
    def _tell(told: list[tuple[Any, Any]]) -> None:
        fault: BaseException | None = None
        for ref, message in told:
            try:
                ref.tell(message)
            except (pykka.ActorDeadError, MailboxFull):  # who set the timer is not there to be refused
                ref.dispatcher.dead_letter(ref, message)
            except BaseException as error:  # the others are out of the wheel: they must be told as well
                fault = fault or error
        if fault is not None:
            raise fault

    def _fire(self, timer: Timer, now: float) -> tuple[Any, Any]:
        ref, message = timer._ref, timer._message
        interval = timer._interval
        if interval is None:
            timer.over()
            if type(timer) is _WallTimer:
                self._on_wall -= 1
                self._tidy()
        else:
            missed = (now - timer.due) // interval
            timer.due += interval * (1 + missed)
            self._wheel.add(timer)
        return ref, message


def _is_vain(timer: Timer) -> bool:
    """End a repeated timer whose actor is dead."""
    if timer._interval is None or timer._ref.is_alive():
        return False
    timer.over()
    return True
