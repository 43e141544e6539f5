"""The provider ``callable`` of a worker process: functions run in children of it, by the user's folder."""

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from showcaller.actors.contract.worker import RunTurn
from showcaller.transport.worker.function_call import FunctionCall
from showcaller.transport.worker.function_child_process import FunctionChild
from showcaller.transport.worker.function_children import FunctionChildren, processors
from showcaller.transport.worker.providers import Result, Sink

IDLE: Final = 30.0
"""Seconds after which a process ends in which nothing has run."""
KEPT: Final = 16
"""Processes that may be idle at once; of more, the one that was so longest ends."""


class ChildCallableProvider:
    """Calls the function that a turn's provider names, ``callable:module:function``, in a child process.

    Turns with the same folder share children: one at first, up to ``most`` while calls wait, and each runs
    several calls at once in threads when there may be no more. A child works in that folder, which comes
    first on its import path; nothing of ours is on it. What the function prints is the turn's output.

    A function that crashes its child fails the turns that run there, each with words that say so. One that
    has not returned when the grace after its turn's halt is over keeps its child from getting more calls,
    and the child is killed when nothing else runs in it. A child ends when it has been idle for ``idle``
    seconds, and with this process.
    """

    def __init__(
        self, environment: Mapping[str, str] | None = None, *, most: int | None = None, idle: float = IDLE
    ) -> None:
        """Take what stands for the environment of this process, if anything does."""
        self._environment = environment
        self._most = most or processors()
        self._idle = idle
        self._leaders: set[int] = set()
        self._folders: dict[str | None, FunctionChildren] = {}
        self._look: asyncio.TimerHandle | None = None

    @property
    def processes(self) -> list[int]:
        """The ids of the children that are there."""
        return [child.pid for child in self._all()]

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        """Call one function to its end; see the class."""
        try:
            call = FunctionCall(turn, sink, asyncio.get_running_loop())
        except ValueError as error:
            return Result(error_text=str(error))
        folder = _absolute(turn.cwd)
        children = self._children_of(folder)
        children.submit(call)
        sink.on_halt(partial(children.halt, call))
        try:
            return await call.answer
        finally:
            children.leave(call)
            self._forget_empty(folder)
            self._look_later(self._idle)

    async def close(self) -> None:
        """End all children."""
        children = self._all()
        for child in children:
            child.end()
        for child in children:
            await child.buried()
        if self._look is not None:
            self._look.cancel()

    def _children_of(self, folder: str | None) -> FunctionChildren:
        children = self._folders.get(folder)
        if children is None:
            children = FunctionChildren(partial(self._start, folder), self._most)
            self._folders[folder] = children
        return children

    def _start(self, folder: str | None) -> FunctionChild:
        for child in self._idle_children()[:-KEPT]:
            child.end()
        environment = os.environ if self._environment is None else self._environment
        children = self._folders[folder]
        gone: Callable[[FunctionChild], None] = partial(self._gone, folder)
        return FunctionChild(folder, environment, self._leaders, children.changed, children.returned, gone)

    def _gone(self, folder: str | None, child: FunctionChild) -> None:
        children = self._folders[folder]
        children.gone(child)
        self._forget_empty(folder)

    def _forget_empty(self, folder: str | None) -> None:
        children = self._folders.get(folder)
        if children is not None and children.is_empty:
            del self._folders[folder]

    def _all(self) -> list[FunctionChild]:
        return [child for children in self._folders.values() for child in children.all]

    def _look_later(self, seconds: float) -> None:
        if self._look is None:
            self._look = asyncio.get_running_loop().call_later(seconds, self._end_idle)

    def _end_idle(self) -> None:
        """Let end who has been idle for long, and look again when the next is due."""
        self._look = None
        oldest = asyncio.get_running_loop().time() - self._idle
        for child in self._idle_children():
            if child.idle_since > oldest:
                self._look_later(child.idle_since - oldest)
                return
            child.end()

    def _idle_children(self) -> list[FunctionChild]:
        """Give those in which nothing runs, those first that have been so for longest."""
        idle = [child for child in self._all() if child.calls == 0 and child.takes_calls]
        return sorted(idle, key=lambda child: child.idle_since)


def _absolute(folder: str | None) -> str | None:
    return folder if folder is None or folder.startswith("/") else str(Path(folder).absolute())
