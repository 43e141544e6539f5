"""Letting time pass in a handler, on the clock that its timers have."""

from collections.abc import Callable

from showcaller.actors.runtime.context import current_dispatcher
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.program import default_dispatcher
from showcaller.actors.runtime.timers import Timers


class _Slept(Future[None]):
    """The end of a sleep: no timer stays when the last who waited has been killed, or waits no longer.

    Whoever waits for it after that has one set again for the time that is left, and each side writes first
    and looks second: so there is a timer while somebody waits. Two do no harm.
    """

    __slots__ = ("_due", "_seconds", "_timer", "_timers")

    def __init__(self, timers: Timers, seconds: float) -> None:
        super().__init__()
        self._timers = timers
        self._seconds = seconds
        self._timer = timers.wake(self, seconds)
        self._due = self._timer.due

    @property
    def done(self) -> bool:
        """True once the time is over."""
        if not self._done and not self._timer.active and self._left() <= 0:
            self.try_set(None)
        return self._done

    def add_done_callback(self, callback: Callable[[Future[None]], object]) -> None:
        """As every future; the time goes on, should nobody have waited for it."""
        super().add_done_callback(callback)
        if not self._done and not self._timer.active:
            self._go_on()

    def forget_callback(self, callback: Callable[[Future[None]], object]) -> None:
        """As every future; without anybody who waits there is no timer either."""
        super().forget_callback(callback)
        if not self._callbacks and not self._done and self._timer.cancel() and self._callbacks:
            self._go_on()

    def _left(self) -> float:
        return self._due - self._timers.clock.monotonic()

    def _go_on(self) -> None:
        self._timer = self._timers.wake(self, self._seconds, self._left())


def sleep(seconds: float) -> Future[None]:
    """Give a future that is done in ``seconds``, to ``await`` in a handler; others are served meanwhile.

    The time is that of the dispatcher that runs the handler (elsewhere of the surrounding ``with
    dispatcher:``, or the process's own), so a test moves it. 0 or less lets those go first who have mail
    now. Ends in ``DispatcherClosed`` when that dispatcher is closed before. Thread-safe.
    """
    dispatcher = current_dispatcher()
    return _Slept((default_dispatcher() if dispatcher is None else dispatcher).timers, seconds)
