"""The provider ``callable``, embedded: a turn is a call of a Python function in this process."""

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from showcaller.actors.contract.worker import RunTurn
from showcaller.transport.worker.context import Context
from showcaller.transport.worker.functions import (
    FunctionNotFoundError,
    Functions,
    failure_text,
    value_text,
)
from showcaller.transport.worker.providers import Result, Sink
from showcaller.transport.worker.text import bounded
from showcaller.transport.worker.threads import THREAD_LIMIT, Threads


class CallableProvider:
    """Calls the function that a turn's provider names: ``callable:module:function``, or a registered one.

    The function gets the turn's item, or its text when there is none, and a ``Context`` if it takes one
    (``takes_context``). It runs in a thread, at most ``limit`` at a time; what an async function returns is
    awaited on the host's loop, which it must not block. Folder and environment belong to the process
    and are not changed for a turn; the folder only comes first when the module is imported.

    A function in a thread cannot be ended from outside: when its turn is halted ``ctx.cancelled`` becomes
    true, and if it has not returned after the grace period the turn ends without it and its thread
    is left alone. A coroutine is cancelled at once, and left alone after the grace period.
    """

    def __init__(self, limit: int = THREAD_LIMIT) -> None:
        self._functions = Functions()
        self._threads = Threads(limit)

    def register(self, name: str, function: Callable[..., Any]) -> str:
        """Offer a function to turns; gives the provider string that names it. ValueError for a bad name."""
        self._functions.register(name, function)
        return f"callable:{name}"

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        """Call one function to its end; see the class."""
        return await _Call(turn, sink, self._functions, self._threads).result()

    async def close(self) -> None:
        """End the threads; those of functions that never returned stay."""
        self._threads.close()


class _Call:
    """One call: in a thread first, then, if that gave an awaitable, on the loop."""

    def __init__(self, turn: RunTurn, sink: Sink, functions: Functions, threads: Threads) -> None:
        self._turn = turn
        self._sink = sink
        self._functions = functions
        self._threads = threads
        self._loop = asyncio.get_running_loop()
        self._context = Context(self._loop, sink.write, turn.environment)
        self._answer: asyncio.Future[Result] = self._loop.create_future()
        self._returned = False
        self._task: asyncio.Task[None] | None = None
        self._patience: asyncio.TimerHandle | None = None

    async def result(self) -> Result:
        job = self._call_in_thread  # one bound method, by which the pool knows the job again
        self._threads.submit(job)
        self._sink.on_halt(self._halt)
        try:
            return await self._answer
        finally:
            if not self._returned:
                self._threads.give_up(job)
            self._context.end()
            if self._patience is not None:
                self._patience.cancel()

    def _call_in_thread(self) -> None:
        value: Any = None
        try:
            value = self._call()
            result = Result() if inspect.isawaitable(value) else _reply(value)
        except FunctionNotFoundError as error:
            result = Result(error_text=str(error))
        except BaseException as error:  # noqa: BLE001 - sys.exit() in a function costs its own turn only
            result = Result(error_text=failure_text(error))
        with contextlib.suppress(RuntimeError):  # the loop is closed: this call was given up long ago
            self._loop.call_soon_threadsafe(self._note_return, value, result)

    def _call(self) -> Any:
        if self._context.cancelled:
            return None
        turn = self._turn
        function = self._functions.find(turn.provider.partition(":")[2], turn.cwd)
        item = turn.item if turn.has_item else turn.text
        return function.call(item, self._context) if function.takes_context else function.call(item)

    def _note_return(self, value: Any, result: Result) -> None:
        self._returned = True
        if not inspect.isawaitable(value):
            self._settle(result)
            return
        self._task = self._loop.create_task(self._finish(value))
        if self._context.cancelled:
            self._cancel_task(self._task)

    async def _finish(self, value: Awaitable[Any]) -> None:
        try:
            result = _reply(await value)
        except BaseException as error:  # noqa: BLE001 - as above; it would end the loop of all turns
            result = Result(error_text=failure_text(error))
        self._settle(result)

    def _settle(self, result: Result) -> None:
        if not self._answer.done():
            self._answer.set_result(result)

    def _halt(self) -> None:
        self._context.cancel()
        if self._task is not None:
            self._cancel_task(self._task)
        self._patience = self._loop.call_later(self._sink.grace, self._settle, Result())

    def _cancel_task(self, task: asyncio.Task[None]) -> None:
        self._loop.call_soon(
            task.cancel
        )  # not before its first step, or the function's coroutine never starts


def _reply(value: Any) -> Result:
    return Result(*bounded(value_text(value)))
