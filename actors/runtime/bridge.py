"""The bridge to asyncio: a coroutine on a loop as a future that handlers can await."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from traceback import walk_tb
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

from showcaller.actors.runtime.errors import AskCycle, ForeignAwaitable, LoopNotRunning
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.unfailing_log import shown, told
from showcaller.actors.runtime.waits import LoopWork

T = TypeVar("T")

_NEVER = 3e9  # seconds

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


class _LoopEnd:
    """What coroutines on a loop owe: those who wait are told when the loop lets go of this.

    It lies among what the loop has scheduled, for a day that never comes, and nobody else holds it for long:
    a loop that closes throws away what is scheduled, and has no other way to tell anybody.
    """

    __slots__ = ("__weakref__", "_lies", "unbegun", "under_way")

    def __init__(self) -> None:
        self._lies = False
        self.unbegun: dict[_OnLoop[Any], Coroutine[Any, Any, Any]] = {}
        self.under_way: dict[_OnLoop[Any], asyncio.Task[Any]] = {}  # held here, as a loop does not hold them

    def begin(self, loop: asyncio.AbstractEventLoop, future: "_OnLoop[Any]") -> None:
        """Begin with a coroutine; called on the loop's thread."""
        if not self._lies:
            self._lies = True
            loop.call_later(_NEVER, self)
        coroutine = self.unbegun.pop(future, None)
        if coroutine is not None:
            task = self.under_way[future] = loop.create_task(coroutine)
            task.add_done_callback(future.end_as)

    def give_up(self, future: "_OnLoop[Any]") -> None:
        """End what the loop will not do. Thread-safe."""
        coroutine = self.unbegun.pop(future, None)
        if coroutine is not None:
            coroutine.close()
        future.try_set_exception(LoopNotRunning("the loop was closed before its coroutine ended"))

    def __call__(self) -> None:
        """Do nothing, should the day come."""

    def __del__(self) -> None:
        for future in (*self.unbegun, *self.under_way):
            self.give_up(future)


_ends: "WeakKeyDictionary[asyncio.AbstractEventLoop, ref[_LoopEnd]]" = WeakKeyDictionary()
_ends_lock = threading.RLock()


def _end_of(loop: asyncio.AbstractEventLoop) -> _LoopEnd | None:
    known = _ends.get(loop)
    return None if known is None else known()


class _OnLoop(Future[T]):
    """The outcome of a coroutine on a loop, for which that loop's own thread must not block."""

    __slots__ = ("_end", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, end: _LoopEnd) -> None:
        super().__init__(LoopWork(loop))
        self._loop = loop
        self._end = ref(end)

    def get(self, *, timeout: float | None = None) -> T:
        """Wait as every future does; raises ``AskCycle`` where that can never end."""
        if not self.done and asyncio._get_running_loop() is self._loop:
            raise AskCycle("get() blocks the loop that is to run the coroutine: await it")
        return super().get(timeout=timeout)

    def end_as(self, task: asyncio.Task[T]) -> None:
        """End in what the task has ended in."""
        end = self._end()
        if end is not None:
            end.under_way.pop(self, None)
        if task.cancelled():
            self.try_set_exception(concurrent.futures.CancelledError())
            return
        error = task.exception()
        if error is None:
            self.try_set(task.result())
        else:
            self.try_set_exception(error)


def on_loop(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Run a coroutine on a running asyncio loop of another thread, and give a future to await in a handler.

    The future ends in what the coroutine returns or raises; a cancelled one ends in
    ``concurrent.futures.CancelledError``. On the loop's own thread it can be awaited, not waited for: to
    block there for it, or for the reply of an actor that awaits it, raises ``AskCycle`` in one of the two.
    Raises ``LoopNotRunning`` for a loop that does not run; the future ends in it when the loop is closed.
    """
    if not asyncio.iscoroutine(coroutine):
        raise TypeError(
            f"on_loop runs a coroutine, as a call of an `async def` gives it, not {shown(coroutine)}"
        )
    if not loop.is_running():
        coroutine.close()
        raise LoopNotRunning(f"{shown(loop)} does not run: start it, or hand on one that runs")
    with _ends_lock:
        end = _end_of(loop) or _LoopEnd()
        _ends[loop] = ref(end)
    bridged = _OnLoop[T](loop, end)
    end.unbegun[bridged] = coroutine
    try:
        loop.call_soon_threadsafe(end.begin, loop, bridged)
        closed = loop.is_closed()  # just now, perhaps: then it keeps what came meanwhile, and does not look
    except RuntimeError:
        closed = True
    if closed:
        end.give_up(bridged)
    return bridged


def has_work(loop: asyncio.AbstractEventLoop) -> bool:
    """True while a loop has more to do than the task that asks, as far as it can be seen; for its thread.

    What a loop has queued and scheduled has no public name, and a loop of another make may hide it.
    """
    end = _end_of(loop)
    if len(asyncio.all_tasks(loop)) > 1 or (end is not None and (end.unbegun or end.under_way)):
        return True
    scheduled = [handle for handle in list(getattr(loop, "_scheduled", ())) if not handle.cancelled()]
    return bool(getattr(loop, "_ready", ())) or any(
        getattr(handle, "_callback", None) is not end for handle in scheduled
    )


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
