"""pykka's *get hook*: a future whose value the first ``get()`` computes."""

import threading
from _thread import get_ident
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from showcaller.actors.runtime.futures import Future


class GetHook:
    """The function that computes a future's value: one thread at a time calls it, the others wait for that.

    They wait as for any future, each with its own timeout: the handler of an actor makes room for others
    meanwhile, and a wait that could never end is refused. An error is no outcome: the next ``get`` computes.
    """

    __slots__ = ("_computed_by", "_lock", "_under_way", "function")

    def __init__(self, function: Callable[[float | None], Any]) -> None:
        self.function = function
        self._lock = threading.RLock()  # a signal handler may get what its thread gets just now
        self._under_way: Future[None] | None = None
        self._computed_by = 0

    def value_of(self, future: "Future[Any]", timeout: float | None, attempt: "Future[None]") -> Any:
        """Give the value, which we compute or another thread; ``attempt`` is done when we are.

        Raises what the function raises, and ``pykka.Timeout`` if it takes another thread too long.
        """
        until = None if timeout is None else SYSTEM_CLOCK.monotonic() + timeout
        try:
            while not future.done:
                other = self._begin(attempt)
                if other is not None and self._computed_by != get_ident():
                    other.get(timeout=timeout)
                    timeout = None if until is None else max(0.0, until - SYSTEM_CLOCK.monotonic())
                    continue
                value = self.function(timeout)
                if other is None:  # otherwise it gets its own future: as far as the stack goes
                    future.computed(value)
                return value
        finally:
            self._end(attempt)
        return future._value

    def _begin(self, attempt: "Future[None]") -> "Future[None] | None":
        """Give None if we are to compute, otherwise what to wait for."""
        with self._lock:
            if self._under_way is None:
                self._under_way, self._computed_by = attempt, get_ident()
                return None
            return self._under_way

    def _end(self, attempt: "Future[None]") -> None:
        with self._lock:
            if self._under_way is attempt:
                self._under_way, self._computed_by = None, 0
        attempt.try_set(None)
