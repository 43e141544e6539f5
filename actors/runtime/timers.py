"""Timers on one clock: a heap of due times, fired by the dispatcher that owns it."""

import heapq
import threading
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

import pykka

from showcaller.actors.runtime.clock import Clock

if TYPE_CHECKING:
    from showcaller.actors.runtime.futures import Future
    from showcaller.actors.runtime.ref import ActorRef


class Timer:
    """A message that will be told when its time has come. ``cancel`` may be called from any thread."""

    __slots__ = ("_interval", "_message", "_ref")

    def __init__(self, ref: Any, message: Any, interval: float | None) -> None:
        self._ref: Any = ref
        self._message = message
        self._interval = interval

    @property
    def active(self) -> bool:
        """True until it was cancelled or has fired for the last time."""
        return self._ref is not None

    def cancel(self) -> None:
        """Never fire (again)."""
        self._ref = None
        self._message = None

    def fire(self) -> bool:
        """Tell the message; True when the timer is to fire again."""
        ref, message = self._ref, self._message
        if ref is None:
            return False
        if self._interval is None:
            self.cancel()
        try:
            ref.tell(message)
        except pykka.ActorDeadError:
            self.cancel()
        return self._interval is not None and self._ref is not None


class _Expiry:
    """Told like an actor when a reply is overdue: ends the future in a timeout."""

    __slots__ = ("future", "seconds")

    def __init__(self, future: "Future[Any]", seconds: float) -> None:
        self.future = future
        self.seconds = seconds

    def tell(self, message: object) -> None:
        self.future.try_set_exception(pykka.Timeout(f"{self.seconds} seconds"))


class Timers:
    """The timers of one dispatcher. Thread-safe.

    ``sooner`` is called without the lock held when a timer was added that is due before all others, so
    that whoever sleeps until the next one can wake.
    """

    def __init__(self, clock: Clock, sooner: Callable[[], None]) -> None:
        self.clock = clock
        self._sooner = sooner
        self._heap: list[tuple[float, int, Timer]] = []
        self._order = count()
        self._lock = threading.Lock()

    def after(self, seconds: float, ref: "ActorRef[Any]", message: Any) -> Timer:
        """Tell ``message`` to ``ref`` once, ``seconds`` from now (below 0 counts as 0)."""
        return self._add(seconds, Timer(ref, message, None))

    def every(self, seconds: float, ref: "ActorRef[Any]", message: Any) -> Timer:
        """Tell ``message`` to ``ref`` every ``seconds`` (above 0), first ``seconds`` from now."""
        if not seconds > 0:
            raise ValueError(f"an interval must be above 0 seconds, not {seconds!r}")
        return self._add(seconds, Timer(ref, message, seconds))

    def expire(self, future: "Future[Any]", seconds: float) -> None:
        """End ``future`` in ``pykka.Timeout`` unless it is done within ``seconds``."""
        timer = self._add(seconds, Timer(_Expiry(future, seconds), None, None))
        future.add_done_callback(lambda _: timer.cancel())

    def _add(self, seconds: float, timer: Timer) -> Timer:
        due = self.clock.monotonic() + max(0.0, seconds)
        with self._lock:
            entry = (due, next(self._order), timer)
            heapq.heappush(self._heap, entry)
            first = self._heap[0] is entry
        if first:
            self._sooner()
        return timer

    def next_due(self) -> float | None:
        """When the next timer fires, on the clock's monotonic scale; None without one."""
        with self._lock:
            while self._heap and not self._heap[0][2].active:
                heapq.heappop(self._heap)
            return self._heap[0][0] if self._heap else None

    def fire_due(self) -> int:
        """Fire what is due now, in order of time; gives how many fired."""
        now = self.clock.monotonic()
        fired = 0
        while (timer := self._take_due(now)) is not None:
            fired += 1
            if timer.fire():
                assert timer._interval is not None
                self._add(timer._interval, timer)
        return fired

    def _take_due(self, now: float) -> Timer | None:
        with self._lock:
            while self._heap and self._heap[0][0] <= now:
                timer = heapq.heappop(self._heap)[2]
                if timer.active:
                    return timer
        return None
