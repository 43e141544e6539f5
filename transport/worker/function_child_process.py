"""A process in which functions of one folder run, as the worker sees it."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from showcaller.transport.worker.descendants import TURNS_VARIABLE, turns_around
from showcaller.transport.worker.environment import inherited
from showcaller.transport.worker.function_call import FunctionCall
from showcaller.transport.worker.function_child_messages import (
    CallBegun,
    CallEnded,
    CallOutput,
    CallReturned,
    ChildReady,
    Frames,
    FromChild,
    GarbageError,
    cancel_message,
    to_frame,
)
from showcaller.transport.worker.function_log import FunctionLog
from showcaller.transport.worker.line import Line
from showcaller.transport.worker.output import CommandOutput, Pipe
from showcaller.transport.worker.process import Child, exit_words
from showcaller.transport.worker.providers import Result

PROGRAM: Final = Path(__file__).with_name("function_child.py")
DRAIN: Final = 0.2
ENDING: Final = 5.0
"""Seconds that a process which was told to end may take; its own limit comes first, if it can keep it."""

Told = Callable[["FunctionChild"], None]
Returned = Callable[[FunctionCall], None]


class ChildNotStartedError(Exception):
    """A process could not be started; the text says why, as the error of a turn."""


class FunctionChild:
    """Runs calls; ``changed`` is told when there may be room for more, ``gone`` once when it has died.

    ``returned`` gets calls that it has not begun: because the user's modules have changed, upon which it
    ends, or because it has died.

    A call that does not return after its turn has ended makes the process ``hung``: it gets no more calls,
    and is killed as soon as nothing else runs in it. What is said amiss costs the calls in it, and no others.
    """

    def __init__(
        self,
        folder: str | None,
        environment: Mapping[str, str],
        leaders: set[int],
        changed: Told,
        returned: Returned,
        gone: Told,
    ) -> None:
        """Start it; raises ChildNotStartedError."""
        self._loop = asyncio.get_running_loop()
        self._changed = changed
        self._returned = returned
        self._gone = gone
        self._calls: dict[int, FunctionCall] = {}
        self._begun: set[int] = set()
        self._hung: set[int] = set()
        self._number = 0
        self._outbox: list[dict[str, Any]] = []
        self._frames = Frames()
        self._amiss: str | None = None
        self._was_cut = False
        self.ready_since: float | None = None
        self.idle_since: float = self._loop.time()
        self.is_ending = False
        self._is_outdated = False
        ours, self._process = _started(folder, environment, leaders)
        self._line = Line(ours, self._hear)
        self._log = FunctionLog(self._process.pid)
        self._pipe = Pipe(self._process.output, CommandOutput(self._log.add, 0, 1))
        self._burial = self._loop.create_task(self._bury())

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def calls(self) -> int:
        """How many calls run in it, or were given to it."""
        return len(self._calls)

    @property
    def takes_calls(self) -> bool:
        """Whether it may be given another."""
        return not (self._hung or self.is_ending or self._is_outdated)

    def run(self, call: FunctionCall) -> int:
        """Run a call in it; gives the call's number."""
        self._number += 1
        self._calls[self._number] = call
        self._log.hide(call.secret)
        self._say(call.message(self._number))
        return self._number

    def cancel(self, number: int) -> None:
        """Ask a call to end."""
        if number in self._calls:
            self._say(cancel_message(number))

    def give_up(self, number: int) -> None:
        """Wait for a call no longer: its turn has ended."""
        if number in self._calls:
            self._hung.add(number)
            self._end_if_stuck()

    def end(self) -> None:
        """Let it end, because nothing runs in it that anybody waits for."""
        if not self.is_ending:
            self.is_ending = True
            self._line.close()

    def kill(self) -> None:
        """End it at once, with all that it has started."""
        self.is_ending = True
        if not self._burial.done():
            self._process.signal_tree(signal.SIGKILL)

    async def buried(self) -> None:
        """Wait until nothing of it is left."""
        await asyncio.wait([self._burial])

    def _say(self, message: dict[str, Any]) -> None:
        """Send with everything else of this step of the loop, in one frame."""
        if not self._outbox:
            self._loop.call_soon(self._flush)
        self._outbox.append(message)

    def _flush(self) -> None:
        messages, self._outbox = self._outbox, []
        self._line.send(to_frame(messages))

    def _hear(self, data: bytes) -> None:
        try:
            for messages in self._frames.feed(data):
                for message in messages:
                    self._hear_message(message)
        except GarbageError as error:
            self._amiss = f"its process said something that none says ({error}), and was ended"
            self._line.close()
            self.kill()
            return
        self._changed(self)

    def _hear_message(self, message: FromChild) -> None:
        if isinstance(message, ChildReady):
            self.ready_since = self._loop.time()
            return
        call = self._calls.get(message.call)
        if call is None:
            raise GarbageError(f"call {message.call} does not run in it")
        if isinstance(message, CallBegun):
            self._begun.add(message.call)
        elif isinstance(message, CallOutput):
            call.write(message.text)
        elif isinstance(message, CallReturned):
            self._call_returned(message, call)
        else:
            self._call_ended(message, call)

    def _call_returned(self, message: CallReturned, call: FunctionCall) -> None:
        if call.was_returned or message.call in self._begun:
            raise GarbageError(f"call {message.call} has begun, or was returned before")
        call.was_returned = True
        self._is_outdated = True
        del self._calls[message.call]
        if not self._calls:
            self.end()
        self._returned(call)

    def _call_ended(self, end: CallEnded, call: FunctionCall) -> None:
        del self._calls[end.call]
        self._begun.discard(end.call)
        self._hung.discard(end.call)
        self.idle_since = self._loop.time()
        call.ended(end)
        self._end_if_stuck()

    def _end_if_stuck(self) -> None:
        if self._hung and len(self._hung) == len(self._calls):
            self.kill()

    async def _bury(self) -> None:
        heard_all = False
        try:
            heard_all = await self._death()
        finally:
            self.is_ending = True
            self._process.signal_tree(signal.SIGKILL)
            self._pipe.close()
            self._log.flush()
            self._line.close()
            status = self._process.reap()
        if self._was_cut and status == -signal.SIGKILL:  # else it was about to end by itself
            self._amiss = self._amiss or "its process had hung up on its worker, and was ended"
        why = self._amiss or _last_words(status, len(self._begun) - 1)
        calls, self._calls = self._calls, {}
        for number, call in calls.items():
            if number in self._begun or call.was_returned or not heard_all:
                call.settle(Result(error_text=why, stop_reason="died"))
            else:
                call.was_returned = True
                self._returned(call)
        self._gone(self)

    async def _death(self) -> bool:
        """Wait for its death, and see to that when it has hung up; tells whether all it said was heard."""
        exited, hung_up = self._process.exited, self._line.hung_up
        await asyncio.wait([exited, hung_up], return_when=asyncio.FIRST_COMPLETED)
        was_told, self.is_ending = self.is_ending, True
        if exited.done():
            await asyncio.wait([hung_up], timeout=DRAIN)
            return hung_up.done()
        await asyncio.wait([exited], timeout=ENDING if was_told else DRAIN)
        if not exited.done():
            self._was_cut = True
            self.kill()
            await exited
        return not was_told


def _started(
    folder: str | None, environment: Mapping[str, str], leaders: set[int]
) -> tuple[socket.socket, Child]:
    """Give our end of the line to a new process, and the process. Raises ChildNotStartedError."""
    try:
        ours, its = socket.socketpair()
        with closing(its):
            try:
                return ours, _spawned(folder, environment, leaders, its.fileno())
            except BaseException:
                ours.close()
                raise
    except (OSError, ValueError) as error:
        raise ChildNotStartedError(_start_error(folder, error)) from error


def _spawned(folder: str | None, environment: Mapping[str, str], leaders: set[int], descriptor: int) -> Child:
    marker = f"fnc_{token_hex(6)}"
    arguments = [sys.executable, "-P", str(PROGRAM), str(descriptor), folder or ""]
    variables = {**inherited(environment), TURNS_VARIABLE: turns_around(environment, marker)}
    if "PYTHONPATH" in variables:
        variables["PYTHONPATH"] = absolute_path(variables["PYTHONPATH"])
    return Child(arguments, folder, variables, marker, leaders, [descriptor])


def _start_error(folder: str | None, error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and folder is not None and error.filename == folder:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        reason = "there is no such folder" if missing else error.strerror
        return f"cannot import from the folder {folder}: {reason}"
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"no process could be started for the function: {reason}"


def absolute_path(python_path: str) -> str:
    """Give an import path that means the same in another folder; empty entries are left out."""
    return os.pathsep.join(str(Path(entry).absolute()) for entry in python_path.split(os.pathsep) if entry)


def _last_words(status: int | None, others: int) -> str:
    """Say why calls have ended with their process. Pure."""
    words = "ended, and nobody knows how" if status is None else exit_words(status)[1]
    beside = f"; {others} other call{'s' if others > 1 else ''} ran there too" if others > 0 else ""
    return f"its process {words or 'exited with code 0'} before the function returned{beside}"
