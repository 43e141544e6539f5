"""What goes on of a command whose shell has exited: looked after until none of its processes is left."""

import asyncio
import signal
from typing import Final

from showcaller.transport.worker.output import DRAIN, CommandOutput, Pipe
from showcaller.transport.worker.process import Child, pause
from showcaller.transport.worker.providers import Sink

DESCRIPTION_LIMIT: Final = 200
LEAST_PAUSE: Final = 0.05
"""Seconds between two looks for processes, where one goes and leaves another again and again."""


class CommandRest:
    """The processes that a command has left, and the pipe of those that have not redirected their output.

    The shell stays unreaped, so that its group and session are nobody else's, until nothing is left.
    """

    def __init__(self, child: Child, command: str, secret: str = "") -> None:
        self._child = child
        self._secret = secret
        self._command = command
        self._kill: asyncio.TimerHandle | None = None

    @property
    def description(self) -> str:
        """The beginning of the command, in one line."""
        words = " ".join(self._command[: 4 * DESCRIPTION_LIMIT].split())
        return words if len(words) <= DESCRIPTION_LIMIT else f"{words[: DESCRIPTION_LIMIT - 1]}…"

    async def ended(self, sink: Sink) -> None:
        """Return when nothing of it is left; halted, it gets SIGTERM, and after the sink's grace SIGKILL."""
        pipe = Pipe(self._child.output, CommandOutput(sink.write, 0, 1, secret=self._secret))
        sink.on_halt(lambda: self._halt(sink.grace))
        try:
            await self._gone(pipe)
            sink.settle()
            await asyncio.wait([pipe.ended], timeout=DRAIN)  # what was written last
        finally:
            if self._kill is not None:
                self._kill.cancel()
            self._child.signal_tree(signal.SIGKILL)
            pipe.close()
            self._child.reap()

    async def _gone(self, pipe: Pipe) -> None:
        members = self._child.members()
        while members:
            await self._child.death_of(members[0], None)
            await pause(LEAST_PAUSE)
            members = self._child.members()
        if members is None:  # the system does not tell, so the pipe has to
            await pipe.ended

    def _halt(self, grace: float) -> None:
        self._kill = self._child.halt_tree(grace)
