"""The provider ``command``: the prompt's text as a command line, or as the input of a fixed command."""

import asyncio
import os
import shlex
import signal
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Final

from showcaller.actors.contract.worker import RunTurn
from showcaller.transport.worker.command_call import CommandCall, shell_for, with_input
from showcaller.transport.worker.command_rest import CommandRest
from showcaller.transport.worker.descendants import TURNS_VARIABLE, turns_around
from showcaller.transport.worker.environment import TOKEN_VARIABLE, inherited
from showcaller.transport.worker.output import DRAIN, CommandOutput, Pipe
from showcaller.transport.worker.process import Child, exit_words, pause
from showcaller.transport.worker.providers import Result, Sink

LEAST_PAUSE: Final = 0.01
"""Seconds between two looks at what goes on, of which many may end one after the other."""
UNKNOWN_EXIT: Final = (
    "its exit code is unknown: SIGKILL did not end it, or another part of this program took the exit "
    "(by ignoring SIGCHLD or waiting for any child)"
)


class CommandProvider:
    """Runs each turn's text by ``/bin/sh``, in a session and process group of its own.

    A turn that names a ``command`` has that run in its place, with the text as its input.

    The command gets the environment of this process without what is not meant for it (``inherited``), then
    the turn's own variables, no other input, and one pipe for output and errors. Its exit code decides. The
    turn ends when the command has exited: what still runs of its tree, a process in a session of its own too
    (``Family`` says how), is the rest of a turn that may leave one, and else is ended with it. A turn that
    is halted gets SIGTERM, and after the sink's grace SIGKILL, for the whole tree. ``environment`` is what
    stands for the environment of this process, which is read anew for each turn when it is None.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = environment
        self._leaders: set[int] = set()

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        """Run one command to its end; see the class."""
        try:
            with _call_for(turn) as call:
                child = Child(
                    call.arguments,
                    turn.cwd,
                    self._variables(turn),
                    turn.turn,
                    self._leaders,
                    call.descriptors,
                    given=call.given,
                )
        except (OSError, ValueError) as error:
            return Result(error_text=_start_error(turn, error))
        secret = turn.environment.get(TOKEN_VARIABLE, "")
        output = CommandOutput(sink.write, secret=secret)
        pipe = Pipe(child.output, output)
        ending = _Ending(child, pipe, sink)
        rest: CommandRest | None = None
        try:
            if await ending.ended(leaves_rest=turn.background):
                rest = CommandRest(child, _description(turn), secret)
        finally:
            if rest is None and not ending.nobody_is_left:
                child.signal_tree(signal.SIGKILL)
            pipe.close()
            status = child.reap() if rest is None else child.status()
        return replace(_result(status, output), rest=rest)

    async def close(self) -> None:
        """Do nothing: no command runs any more, and nothing else is held."""

    def _variables(self, turn: RunTurn) -> dict[str, str]:
        own = os.environ if self._environment is None else self._environment
        added = {} if turn.command is None else turn.command.environment
        around = {TURNS_VARIABLE: turns_around(own, turn.turn)}
        return {**inherited(own), **added, **turn.environment, **around}


def _call_for(turn: RunTurn) -> AbstractContextManager[CommandCall]:
    return shell_for(turn.text) if turn.command is None else with_input(turn.command.arguments, turn.text)


def _description(turn: RunTurn) -> str:
    return turn.text if turn.command is None else shlex.join(turn.command.arguments)


class _Ending:
    """How one command comes to its end: by itself, or halted, first politely."""

    def __init__(self, child: Child, pipe: Pipe, sink: Sink) -> None:
        self._child = child
        self._pipe = pipe
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._kill: asyncio.TimerHandle | None = None
        self.nobody_is_left = False
        """Whether it was looked for processes, and none was there."""
        sink.on_halt(self._halt)

    async def ended(self, *, leaves_rest: bool) -> bool:
        """Return when the command has ended; tells whether something goes on that is to be its rest.

        If not, nothing of the tree that matters is left running, and what is left may be killed.
        """
        try:
            await self._child.exited
            self._sink.settle()
            if self._kill is not None:
                await self._pipe_ends(self._kill.when() - self._loop.time())
            elif leaves_rest and await self._something_goes_on():
                return True
            elif not self.nobody_is_left and not await self._pipe_ends(DRAIN):
                self._child.signal_tree(signal.SIGTERM)
                await self._pipe_ends(DRAIN)
        finally:
            if self._kill is not None:
                self._kill.cancel()
        return False

    async def _something_goes_on(self) -> bool:
        """Give what the command has started a moment to end by itself; tell whether it has not."""
        if self._child.status() is None:  # somebody else took its exit, and its id may be a stranger's
            return False
        until = self._loop.time() + DRAIN
        has_ended = await self._pipe_ends(DRAIN)
        members = self._child.members()
        while members and (left := until - self._loop.time()) > 0:
            await self._child.death_of(members[0], left)
            await pause(LEAST_PAUSE)
            members = self._child.members()
        self.nobody_is_left = members == []
        return bool(members) if members is not None else not has_ended

    def _halt(self) -> None:
        self._kill = self._child.halt_tree(self._sink.grace)

    async def _pipe_ends(self, seconds: float) -> bool:
        """Wait until everybody has closed the pipe, at most so long; whoever holds it is still running."""
        if not self._pipe.ended.done():
            await asyncio.wait([self._pipe.ended], timeout=max(0.0, seconds))
        return self._pipe.ended.done()


def _result(status: int | None, output: CommandOutput) -> Result:
    reply, truncated = output.reply()
    if status is None:
        return Result(reply, truncated, UNKNOWN_EXIT, "died")
    code, error_text, died = exit_words(status)
    return Result(reply, truncated, error_text, "died" if died else "end", code)


def _start_error(turn: RunTurn, error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and turn.cwd is not None and error.filename == turn.cwd:
        return f"cannot run in the folder {turn.cwd}: {error.strerror}"
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"the command could not be started: {reason}"
