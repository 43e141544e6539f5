"""A running turn as the host keeps it, and as its provider sees it (its ``Sink``)."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from showcaller.actors.contract.worker import RunTurn
from showcaller.transport.worker.ends import Halt
from showcaller.transport.worker.work import RunningWork

LINES: Final = 5
"""Lines of what a turn does that are kept until they are told."""


class RunningTurn(RunningWork):
    """One turn between its receipt and its end. Lives on the host's event loop; not thread-safe.

    ``wrote`` is called at the first write after each ``take_output``. ``ends_rest`` says why what the turn
    leaves running is to be ended with it.
    """

    def __init__(
        self, request: RunTurn, started: float, grace: float, wrote: "Callable[[RunningTurn], None]"
    ) -> None:
        super().__init__(grace, lambda: wrote(self))
        self.request = request
        self.started = started
        self.ends_rest: Halt | None = None
        self._loop = asyncio.get_running_loop()
        self._seconds_left: float | None = None
        self._time_is_up: Callable[[], object] = lambda: None
        self._clock: asyncio.TimerHandle | None = None
        self._pauses = 0
        self._told_of = wrote
        self._lines: deque[str] = deque(maxlen=LINES)

    def act(self, line: str) -> None:
        """Tell what the work does, in one line; ignored after the end."""
        if not self._finished:
            is_first = not self._lines
            self._lines.append(line)
            if is_first:
                self._told_of(self)

    def take_lines(self) -> tuple[str, ...]:
        """Give the last lines of what it has done since the last call."""
        lines = tuple(self._lines)
        self._lines.clear()
        return lines

    def limit(self, seconds: float, time_is_up: Callable[[], object]) -> None:
        """Call ``time_is_up`` when the turn has run for so long, pauses left out."""
        self._seconds_left = seconds
        self._time_is_up = time_is_up
        if not self._pauses:
            self._start_clock()

    def pause(self) -> None:
        """Count no time until ``go_on`` was called as often."""
        self._pauses += 1
        if self._clock is not None:
            self._seconds_left = max(0.0, self._clock.when() - self._loop.time())
            self._clock.cancel()
            self._clock = None

    def go_on(self) -> None:
        """Count the time again, once every pause is over."""
        self._pauses -= 1
        if not self._pauses and self._seconds_left is not None:
            self._start_clock()

    def finish(self) -> None:
        """Take no more output, and call off the time limit and what else would still come."""
        super().finish()
        self._seconds_left = None
        if self._clock is not None:
            self._clock.cancel()

    def _start_clock(self) -> None:
        self._clock = self._loop.call_later(self._seconds_left or 0.0, self._time_is_up)
