"""An agent's process: in a session of its own, with a pipe each way, and gone with its whole tree."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from secrets import token_hex
from typing import Final

from showcaller.actors.contract.agent_messages import AgentSpec
from showcaller.transport.worker.acp.stream import AgentStream
from showcaller.transport.worker.descendants import TURNS_VARIABLE, turns_around
from showcaller.transport.worker.environment import inherited
from showcaller.transport.worker.output import CommandOutput, Pipe
from showcaller.transport.worker.process import Child, exit_words
from showcaller.transport.worker.text import valid

DRAIN: Final = 0.2
"""Seconds for what a process has written last to come out of its pipes."""
LINGER: Final = 1.0
"""Seconds for which a process may live on that has closed its output."""
POLITE: Final = 1.0
"""Seconds for which a process may end by itself because its input has."""
LAST_WORDS: Final = 2_000
"""Bytes of its standard error that are kept."""


class AgentNotStartedError(Exception):
    """An agent's process could not be started; the text says why, and how to get the agent."""


class AgentProcess:
    """Runs an agent's program until it ends by itself or is told to; belongs to one event loop.

    It gets the environment ``around`` without what is not meant for it, then the entry's variables, then
    ``told``. ``buried`` is settled when nothing of its tree is left; ``gone`` is called then.
    """

    def __init__(
        self,
        spec: AgentSpec,
        cwd: str | None,
        around: Mapping[str, str],
        told: Mapping[str, str],
        leaders: set[int],
        gone: Callable[[], None],
        line_limit: int,
    ) -> None:
        """Start it; raises AgentNotStartedError."""
        self._loop = asyncio.get_running_loop()
        marker = f"agt_{token_hex(6)}"
        self._leaders = leaders
        turns = {TURNS_VARIABLE: turns_around(around, marker)}
        self._variables = {**inherited(around), **spec.environment, **told, **turns}
        self._child, given, errors = self._started(spec, cwd, marker)
        self.stream = AgentStream(os.dup(self._child.output), given, line_limit)
        self._errors = CommandOutput(lambda _: None, 0, LAST_WORDS)
        self._errors_fd = errors
        self._pipe = Pipe(errors, self._errors)
        self._gone = gone
        self._timers: list[asyncio.TimerHandle] = []
        self._is_killed = False
        self._status: int | None = None
        self._burial = self._loop.create_task(self._bury())

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left."""
        return self._burial.done()

    @property
    def is_ending(self) -> bool:
        """Whether it was told to end, says or hears no more, or has ended."""
        has_hung_up = self.stream.ended.done() or self.stream.broken.done()
        return bool(self._timers) or self._is_killed or has_hung_up or self.is_over

    def start_beside(self, arguments: Sequence[str], cwd: str | None, more: Mapping[str, str]) -> Child:
        """Start a program for the agent; what it leaves behind is ended with the agent at the latest.

        Raises OSError or ValueError when it cannot be started.
        """
        marker = f"agt_{token_hex(6)}"
        turns = {TURNS_VARIABLE: turns_around(self._variables, marker)}
        return Child(arguments, cwd, {**self._variables, **more, **turns}, marker, self._leaders)

    def end(self, grace: float) -> None:
        """Let it end: its input ends, then its tree is asked to, and is ended by force after ``grace``."""
        self.stream.end_input()
        if not self._timers and not self.is_over:
            for number, after in ((signal.SIGTERM, min(POLITE, grace / 2)), (signal.SIGKILL, grace)):
                self._timers.append(self._loop.call_later(after, self._child.signal_tree, number))

    def kill(self) -> None:
        """End it at once, with all that it has started."""
        self._is_killed = True
        if not self.is_over:
            self._child.signal_tree(signal.SIGKILL)

    async def buried(self) -> None:
        """Wait until nothing of it is left."""
        await asyncio.wait([self._burial])

    def how_it_ended(self) -> str:
        """Say how it has ended, in words."""
        if self.stream.fault is not None:
            return f"was ended because {self.stream.fault}, and so"
        if self._status is None:
            return "ended, and nobody knows how,"
        return exit_words(self._status)[1] or "exited with code 0"

    def last_words(self) -> str:
        """Give the end of what it has written beside its messages."""
        errors = self._errors.reply()[0].strip().rpartition("left out …]\n")[2]
        return valid("\n".join([*self.stream.strange, errors]).strip())

    def _started(self, spec: AgentSpec, cwd: str | None, marker: str) -> tuple[Child, int, int]:
        """Give the process, the descriptor of its input and the one of its standard error."""
        its_input, given = os.pipe()
        errors, its_errors = os.pipe()
        try:
            child = Child(
                spec.command,
                cwd,
                self._variables,
                marker,
                self._leaders,
                given=its_input,
                errors=its_errors,
            )
        except BaseException as error:
            os.close(given)
            os.close(errors)
            if isinstance(error, OSError | ValueError):
                raise AgentNotStartedError(_start_error(spec, cwd, error)) from error
            raise
        finally:
            os.close(its_input)
            os.close(its_errors)
        return child, given, errors

    async def _bury(self) -> None:
        try:
            await self._death()
        finally:
            for timer in self._timers:
                timer.cancel()
            self._child.signal_tree(signal.SIGKILL)  # an agent that was killed leaves children behind
            await asyncio.wait([self._pipe.ended], timeout=DRAIN)
            self._pipe.close()
            os.close(self._errors_fd)
            self.stream.hang_up()
            self._status = self._child.reap()
            self._gone()

    async def _death(self) -> None:
        """Wait for its death, and see to that when it says or hears no more."""
        exited, gone = self._child.exited, [self.stream.ended, self.stream.broken]
        await asyncio.wait([exited, *gone], return_when=asyncio.FIRST_COMPLETED)
        if not exited.done():
            await asyncio.wait([exited], timeout=None if self._timers else LINGER)
        if not exited.done():
            self.kill()
            await exited


def _start_error(spec: AgentSpec, cwd: str | None, error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and cwd is not None and error.filename == cwd:
        return f"{spec.label} cannot run in the folder {cwd}: {error.strerror}"
    if isinstance(error, FileNotFoundError):
        how = f" {spec.install}" if spec.install else ""
        return f"{spec.label} is not installed: there is no program {spec.command[0]!r}.{how}"
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"{spec.label} could not be started ({spec.command[0]!r}): {reason}"
