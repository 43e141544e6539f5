"""Work that runs, as the host keeps it and as the work itself sees it (its ``Sink``)."""

import asyncio
from collections.abc import Callable
from typing import Final

from showcaller.transport.worker.ends import Halt
from showcaller.transport.worker.text import BothEnds, joined, valid

OUTPUT_LIMIT: Final = 16 * 1024
PATIENCE: Final = 2.0
"""Seconds beyond its grace that work has to return, before it is given up."""


class RunningWork:
    """Something that writes, may be halted, and ends. Lives on the host's event loop; not thread-safe.

    ``wrote`` is called at the first write after each ``take_output``; ``grace`` is the time in seconds
    between asking the work to end and ending it by force.
    """

    def __init__(self, grace: float, wrote: Callable[[], None]) -> None:
        self.halted: Halt | None = None
        self.task: asyncio.Task[None] | None = None
        self.timers: list[asyncio.TimerHandle] = []
        self._grace = grace
        self._wrote = wrote
        self._settled = False
        self._finished = False
        self._act: Callable[[], None] | None = None
        self._output = BothEnds("".join, OUTPUT_LIMIT // 4, OUTPUT_LIMIT * 3 // 4)

    @property
    def grace(self) -> float:
        """Seconds between asking the work to end and ending it by force."""
        return self._grace

    def write(self, text: str) -> None:
        """Add a piece of output; of what gathers before it is sent, only both ends are kept.

        Ignored after the end.
        """
        if self._finished:
            return
        first = not self._output
        self._output.add(text)
        if first and text:
            self._wrote()

    def act(self, line: str) -> None:
        """Change nothing: only a turn tells what it does."""

    def take_output(self) -> str:
        """Give what was written since the last call, within OUTPUT_LIMIT characters and a line for a gap."""
        text, _ = joined(self._output)
        self._output.clear()
        return valid(text)

    def on_halt(self, act: Callable[[], None]) -> None:
        """Call ``act`` when the work is halted, at once if it was already."""
        self._act = act
        if self.halted is not None:
            act()

    def settle(self) -> None:
        """Make later halts harmless: the work has ended by itself."""
        self._settled = True

    def pause(self) -> None:
        """Change nothing: only a turn has a time limit."""

    def go_on(self) -> None:
        """Change nothing."""

    def halt(self, why: Halt) -> bool:
        """Ask the work to end; gives False when it was asked already, or had ended by itself."""
        if self.halted is not None or self._settled:
            return False
        self.halted = why
        if self._act is not None:
            self._act()
        return True

    def give_up(self) -> None:
        """End it over the head of work that does not return."""
        if self.task is not None:
            self.task.cancel()

    def finish(self) -> None:
        """Take no more output, and call off the time limit and what else would still come."""
        self._finished = True
        for timer in self.timers:
            timer.cancel()
