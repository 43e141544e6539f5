"""The bridge to asyncio: a coroutine on a loop as a future that handlers can await."""

import asyncio
import concurrent.futures
from collections.abc import Coroutine
from traceback import walk_tb
from typing import Any, TypeVar

from showcaller.actors.runtime.errors import AskCycle, ForeignAwaitable, LoopNotRunning
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.unfailing_log import shown, told
from showcaller.actors.runtime.waits import LoopWork

T = TypeVar("T")

_under_way: "dict[Future[Any], asyncio.AbstractEventLoop]" = {}  # what coroutines on loops still owe

# How asyncio says that it was called where no loop runs. A later version may say it in other words: then the
# error stays what it is.
_MISSED = (
    "no running event loop",
    "no current event loop",
    "a different event loop",
    "used inside a task",
    "the parent task",
)
# An error that came through one of these had a loop (as in ``asyncio.run``), or is another actor's.
_ELSEWHERE = frozenset({"asyncio.base_events", Future.__module__})
_BAD_YIELD = f"Task got bad yield: {Future()!r}"
_BRIDGE = (
    "in a handler only the runtime's futures can be awaited; instead of asyncio.sleep await sleep(seconds) "
    "of the runtime, and wrap anything else of asyncio in on_loop(loop, coroutine)"
)


class _OnLoop(Future[T]):
    """The outcome of a coroutine on a loop, for which that loop's own thread must not block."""

    __slots__ = ("_loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(LoopWork(loop))
        self._loop = loop

    def get(self, *, timeout: float | None = None) -> T:
        """Wait as every future does; raises ``AskCycle`` where that can never end."""
        if not self.done and asyncio._get_running_loop() is self._loop:
            raise AskCycle("get() blocks the loop that is to run the coroutine: await it")
        return super().get(timeout=timeout)


def on_loop(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Run a coroutine on a running asyncio loop of another thread, and give a future to await in a handler.

    The future ends in what the coroutine returns or raises; a cancelled one ends in
    ``concurrent.futures.CancelledError``. On the loop's own thread it can be awaited, not waited for: to
    block there for it, or for the reply of an actor that awaits it, raises ``AskCycle`` in one of the two.
    Raises ``LoopNotRunning`` for a loop that does not run; so does ``get()`` once the loop was closed.
    """
    if not loop.is_running():
        coroutine.close()
        raise LoopNotRunning(f"{shown(loop)} does not run: start it, or hand on one that runs")
    bridged: Future[T] = _OnLoop(loop)

    def push(done: "concurrent.futures.Future[T]") -> None:
        _under_way.pop(bridged, None)
        try:
            bridged.try_set(done.result())
        except BaseException as error:  # CancelledError is no Exception, and is the answer here
            bridged.try_set_exception(error)

    running = asyncio.run_coroutine_threadsafe(coroutine, loop)
    _under_way[bridged] = loop
    running.add_done_callback(push)
    return bridged


def has_work(loop: asyncio.AbstractEventLoop) -> bool:
    """True while a loop has more to do than the task that asks, as far as it can be seen; for its thread.

    What a loop has queued and scheduled has no public name, and a loop of another make may hide it.
    """
    if len(asyncio.all_tasks(loop)) > 1 or loop in list(_under_way.values()):
        return True
    scheduled = list(getattr(loop, "_scheduled", ()))
    return bool(getattr(loop, "_ready", ())) or not all(handle.cancelled() for handle in scheduled)


def foreign_awaitable(coroutine: Any, awaited: object) -> ForeignAwaitable:
    """Give the error of a handler that awaited what the runtime cannot wait for."""
    return ForeignAwaitable(f"{coroutine.__qualname__} awaited {shown(awaited)}: {_BRIDGE}")


def named_foreign(coroutine: Any, error: BaseException) -> BaseException:
    """Give a ``ForeignAwaitable`` for what asyncio raises out of a handler because no loop runs there.

    Any other error is given back as it is.
    """
    if not _misses_loop(error):
        return error
    foreign = ForeignAwaitable(
        f"{coroutine.__qualname__} used asyncio without its loop ({told(error)}): {_BRIDGE}"
    )
    foreign.__cause__ = error
    return foreign.with_traceback(error.__traceback__)


def _misses_loop(error: BaseException) -> bool:
    if isinstance(error, RuntimeError) and _BAD_YIELD in told(error):
        return True  # a task of another loop, as in asyncio.run, awaits a reply as if the handler did
    if isinstance(error, AttributeError):
        missed = error.obj is None  # the loop that there was none of
    else:
        missed = isinstance(error, RuntimeError) and any(text in told(error) for text in _MISSED)
    if not missed:
        return False
    modules = [str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__)]
    called_directly = told(error) == _MISSED[0]  # get_running_loop is written in C and has no frame
    return _ELSEWHERE.isdisjoint(modules) and (called_directly or modules[-1].startswith("asyncio."))
