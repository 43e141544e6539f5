"""Commands that run for an agent in terminals, so called: their output is kept for it to ask for."""

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from showcaller.transport.worker.output import DRAIN, CommandOutput, Pipe
from showcaller.transport.worker.process import Child
from showcaller.transport.worker.text import gap_line

MOST: Final = 16
"""Terminals that one agent may have at once."""
OUTPUT_LIMIT: Final = 1024 * 1024
"""Bytes of output that are kept at most of each, the last ones."""

Start = Callable[[Sequence[str], str | None, Mapping[str, str]], Child]


class TerminalRefusedError(Exception):
    """A terminal is not made, or not there; the text says why, for the agent."""


class ExitStatus(NamedTuple):
    """How a command has ended: with a code, or by a signal."""

    code: int | None
    signal: str | None


class Terminal:
    """One command, until it is released."""

    def __init__(self, child: Child, limit: int) -> None:
        self._child = child
        self._output = CommandOutput(lambda _: None, 0, limit)
        self._pipe = Pipe(child.output, self._output)
        self.status: ExitStatus | None = None
        self.burial = asyncio.get_running_loop().create_task(self._bury())

    def output(self) -> tuple[str, bool]:
        """Give what it has written, and whether its beginning is cut off."""
        text, is_cut = self._output.reply()
        return (text.partition(_GAP_ENDS)[2] if is_cut else text), is_cut

    def kill(self) -> None:
        """End it at once with all that it has started; what it has written stays."""
        if not self.burial.done():
            self._child.signal_tree(signal.SIGKILL)

    async def exited(self) -> ExitStatus:
        """Wait until it has ended, and say how."""
        await asyncio.wait([self.burial])
        return self.status or ExitStatus(None, None)

    async def _bury(self) -> None:
        try:
            await self._child.exited
        finally:
            self._child.signal_tree(signal.SIGKILL)
            await asyncio.wait([self._pipe.ended], timeout=DRAIN)
            self._pipe.close()
            self.status = _status(self._child.reap())


class Terminals:
    """The terminals of one agent, on one event loop.

    ``start`` starts a program with these arguments, in this folder, with these variables beside the agent's.
    """

    def __init__(self, start: Start) -> None:
        self._start = start
        self._open: dict[str, Terminal] = {}
        self._burials: set[asyncio.Task[None]] = set()
        self._number = 0

    def create(
        self, arguments: Sequence[str], cwd: str | None, environment: Mapping[str, str], limit: int | None
    ) -> str:
        """Start a command, and give the name of its terminal; raises TerminalRefusedError."""
        if len(self._open) >= MOST:
            raise TerminalRefusedError(f"{MOST} terminals are open already: release one first")
        try:
            child = self._start(arguments, cwd, environment)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise TerminalRefusedError(f"{arguments[0]!r} could not be started: {why}") from error
        self._number += 1
        name = f"term_{self._number}"
        terminal = Terminal(child, OUTPUT_LIMIT if limit is None else min(limit, OUTPUT_LIMIT))
        self._open[name] = terminal
        self._burials.add(terminal.burial)
        terminal.burial.add_done_callback(self._burials.discard)
        return name

    def find(self, name: str) -> Terminal:
        """Give a terminal; raises TerminalRefusedError for one that is not there."""
        terminal = self._open.get(name)
        if terminal is None:
            raise TerminalRefusedError(f"there is no terminal {name[:100]!r}")
        return terminal

    def release(self, name: str) -> None:
        """End a terminal's command and forget what it has written; raises TerminalRefusedError."""
        self.find(name).kill()
        self._open.pop(name)

    def kill_all(self) -> None:
        """End all commands at once."""
        for terminal in self._open.values():
            terminal.kill()

    async def buried(self) -> None:
        """Wait until nothing of any is left."""
        if self._burials:
            await asyncio.wait(self._burials)


_GAP_ENDS: Final = gap_line(0, "bytes").rpartition("0")[2]


def _status(status: int | None) -> ExitStatus:
    if status is None:
        return ExitStatus(None, None)
    if status >= 0:
        return ExitStatus(status, None)
    try:
        return ExitStatus(None, signal.Signals(-status).name)
    except ValueError:
        return ExitStatus(None, str(-status))
