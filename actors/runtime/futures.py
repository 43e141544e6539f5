"""Futures: pykka's, with results that are pushed, and awaitable in handlers and on asyncio loops."""

import asyncio
import functools
import itertools
import queue
from collections.abc import Callable, Generator, Iterable, Iterator
from types import MethodType
from typing import Any, TypeVar, cast

import pykka

from showcaller.actors.runtime.context import current_cell, current_dispatcher, here
from showcaller.actors.runtime.debts import Debt
from showcaller.actors.runtime.delivery import deliver, deliver_first, delivery
from showcaller.actors.runtime.derivation import Derivation, getter_of
from showcaller.actors.runtime.envelope import Envelope
from showcaller.actors.runtime.errors import AskCycle, ReplyLost, ReplyOverdue
from showcaller.actors.runtime.exc_info import ExcInfo, exc_info_of
from showcaller.actors.runtime.get_hook import GetHook
from showcaller.actors.runtime.handler import Handler
from showcaller.actors.runtime.thread_waits import Waker, wait_in_thread
from showcaller.actors.runtime.waits import owner_of

__all__ = ["Future"]

T = TypeVar("T")
M = TypeVar("M")
J = TypeVar("J")
R = TypeVar("R")


_NO_AWAIT_RAISES = (
    "what was awaited ended in StopIteration, which no await can raise: let who answers raise another error, "
    "or get() the future instead of awaiting it"
)


_NO_TASK = (
    "asyncio.wait() takes tasks of its own: hand it asyncio.ensure_future(ref.request(...)), or use "
    "asyncio.gather() or as_completed(), which take futures of the runtime as they are"
)


class Future(pykka.Future[T]):
    """A value that is there now or later; ``get()`` it, ``await`` it, or have it pushed to a callback.

    It is pykka's, and anybody may make and complete one. Thread-safe.
    """

    # Whose outcome stands first in `_claims` decides, and a callback is run by whoever pops it from the
    # dict, where each has its identity: both are single atomic operations, so no lock is held while anything
    # runs. (A claim that says whose it is can be told from another one's by who was interrupted just then.)
    # Who adds a callback puts it in first and looks at `_done` second, who completes sets `_done` first and
    # looks at them second: one at least sees the other.

    __slots__ = ("_callbacks", "_claims", "_done", "_error", "_hook", "_value", "answerer")

    def __init__(self, answerer: Any = None) -> None:
        """``answerer``: the ref that owes the value, or a tuple of the futures it is made of, if known.

        What a future is made of is named, not who owes that: the reply may be taken over or passed on.
        """
        self._claims: list[Any] = []
        self._callbacks: dict[Any, Any] = {}
        self._done = False
        self._value: Any = None
        self._error: ExcInfo | None = None
        self._hook: GetHook | None = None
        self.answerer: Any = answerer

    def __repr__(self) -> str:
        if not self._done:
            owner, _ = owner_of(self)
            return "<Future: not done>" if owner is None else f"<Future: {owner} has not replied>"
        return f"<Future: {self._value!r}>" if self._error is None else f"<Future: raised {self.error!r}>"

    # -- completing --------------------------------------------------------------------------------

    def set(self, value: T | None = None) -> None:
        """Complete with a value; raises ``queue.Full`` when the outcome is already decided.

        A reply that comes after its asker's timeout, or after the life that owed it, is no fault of who sets
        it: it is only counted.
        """
        if not self.try_set(value) and not self._too_late():
            raise queue.Full

    def set_exception(self, exc_info: ExcInfo | BaseException | None = None) -> None:
        """Complete with an error: an exception, ``sys.exc_info()``-like, or the one being handled.

        Raises ``TypeError`` for anything else, and if none is. Raises ``queue.Full`` when the outcome is
        already decided, but not when the time of who asks, or the life that owed the reply, is over.
        """
        if not self.try_set_exception(exc_info) and not self._too_late():
            raise queue.Full

    def _too_late(self) -> bool:
        given_up = None if self._error is None else self._error[1]
        if not isinstance(given_up, ReplyOverdue | ReplyLost):
            return False
        given_up.late()
        return True

    def try_set(self, value: T | None = None) -> bool:
        """Complete with a value, or give False when the outcome is already decided (a late reply)."""
        return self._complete((value, None))

    def try_set_exception(self, exc_info: ExcInfo | BaseException | None = None) -> bool:
        """Complete with an error, or give False when the outcome is already decided."""
        return self._complete((None, exc_info_of(exc_info)))

    def _complete(self, outcome: tuple[T | None, ExcInfo | None]) -> bool:
        claims = self._claims
        try:
            claims.append(outcome)
            if claims[0] is not outcome:
                del claims[1:]
                return False
            self._value, self._error = outcome
            self._done = True
            if self._callbacks:
                self.announce()
        except BaseException:  # somebody has interrupted us, who alone can do the rest
            if claims and claims[0] is outcome:
                self._value, self._error = outcome
                self._done = True
                self.announce()
            raise
        return True

    def decide(self, value: Any, error: ExcInfo | None) -> "Future[T] | None":
        """Complete without running the callbacks: gives the future when that is left to do (``announce``)."""
        outcome = (value, error)
        self._claims.append(outcome)
        if self._claims[0] is not outcome:
            del self._claims[1:]
            return None
        self._value, self._error = outcome
        self._done = True
        self.answerer = None  # a chain of derived futures does not keep its beginning
        return self

    def announce(self) -> None:
        """Run the callbacks, and those of every future that is derived from this one."""
        callbacks, keys = self._callbacks, iter(list(self._callbacks))
        callback: Any = None
        try:
            for callback in keys:  # the key of one of our own is itself
                if type(callback) not in _AT_ONCE:
                    break
                if callbacks.pop(callback, None) is not None:  # else the other side of a race has
                    callback(self)
            else:
                return
        except BaseException:  # somebody has interrupted us: the others are not to wait for ever
            if type(callback) in _AT_ONCE and callback not in callbacks:
                callback(self)
            deliver(self, iter(list(callbacks)))
            raise
        deliver(self, itertools.chain((callback,), keys))

    def take_callback(self, keys: "Iterator[Any]") -> "Callable[[Future[T]], object] | None":
        """Take the next callback, to run it; None when the keys are used up."""
        for key in keys:
            taken = self._callbacks.pop(key, None)
            if taken is not None:  # else the other side of a race has popped it
                return cast("Callable[[Future[T]], object]", taken[0] if type(taken) is tuple else taken)
        return None

    def set_get_hook(self, func: Callable[[float | None], T]) -> None:
        """Let the first ``get()`` compute the value (pykka); raises ``queue.Full`` after a result."""
        if not self.try_set_get_hook(func):
            raise queue.Full

    def try_set_get_hook(self, func: Callable[[float | None], T]) -> bool:
        """Let the first ``get()`` compute the value, or give False when the outcome is already decided."""
        before, claims = self._hook, self._claims
        hook = GetHook(func) if before is None else before
        try:
            if before is None:
                claims.append(hook)
                if claims[0] is not hook:
                    del claims[1:]
                    return False
            hook.function = func
            self._hang(hook)
        except BaseException:
            if claims and claims[0] is hook:
                self._hang(hook)
            raise
        return True

    def _hang(self, hook: GetHook) -> None:
        self._hook = hook
        for callback in list(self._callbacks.values()):
            if isinstance(callback, Derivation):
                callback.hook()

    def computed(self, value: T) -> None:
        """Complete with what the hook has computed; called by one thread at a time."""
        if not self._done:
            outcome = (value, None)
            self._claims[0] = outcome  # where the hook stood
            self._complete(outcome)
            self._hook = None

    # -- reading -----------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """True once ``get()`` would not wait."""
        return self._done

    @property
    def error(self) -> BaseException | None:
        """What it has ended in, if that is an error."""
        return None if self._error is None else self._error[1]

    def get(self, *, timeout: float | None = None) -> T:
        """Wait for the value and give it, or raise the error; ``timeout`` in seconds.

        In a handler the dispatcher lets a spare thread go on with other actors meanwhile; under a
        manual dispatcher it runs steps until the value is there. Raises ``pykka.Timeout``.
        """
        try:
            if not self._done:
                hook = self._hook
                if hook is not None:
                    return cast("T", hook.value_of(self, timeout, Future(current_cell())))
                self._wait(timeout)
            return self._outcome()
        except BaseException:
            del self  # or the frames of an error would keep what is still to come
            raise

    def _wait(self, timeout: float | None) -> None:
        if delivery.put_off is not None:
            deliver_first()
        dispatcher = current_dispatcher()
        wait = wait_in_thread if dispatcher is None else dispatcher.wait_for
        try:
            came = wait(self, timeout)
        except AskCycle as cycle:
            cycle.__traceback__ = None  # of frames that hold what is waited for
            raise
        finally:
            del self
        if not came:
            raise pykka.Timeout(f"{timeout} seconds")

    def _outcome(self) -> T:
        if self._error is None:
            return cast("T", self._value)
        kind, error, traceback = self._error
        del self
        if error is None:
            assert kind is not None
            error = kind()
        try:
            raise error if error.__traceback__ is traceback else error.with_traceback(traceback)
        finally:
            del error, traceback  # or the frames of an error would keep the error

    def add_done_callback(self, callback: "Callable[[Future[T]], object]") -> None:
        """Call ``callback(self)`` once, when done: on the completing thread, or here if done already.

        A callback must be quick and must not block; an error in it is logged.
        """
        callbacks = self._callbacks
        if type(callback) in _OWN:
            callbacks[callback] = callback
        elif getattr(callback, "__module__", None) == "asyncio.tasks":
            raise TypeError(_NO_TASK)
        elif callbacks.setdefault(id(callback), entry := (callback,)) is not entry:
            callbacks[object()] = entry  # it is to be called once more
        if self._done:
            self.announce()

    def forget_callback(self, callback: "Callable[[Future[T]], object]") -> None:
        """Take a callback back, if it has not run."""
        callbacks = self._callbacks
        if callbacks.pop(callback if type(callback) in _OWN else id(callback), None) is not None:
            return
        if self._done and type(callback) is not MethodType:
            return  # it has run, or is just about to
        method = MethodType if type(callback) is MethodType else None  # it may have been made anew
        for key, entry in list(callbacks.items()):
            heard = entry[0] if type(entry) is tuple else None
            if heard is callback or (type(heard) is method and heard == callback):
                callbacks.pop(key, None)
                return

    def __await__(self) -> Generator[Any, Any, T]:
        try:
            if self._done or self._hook is not None:
                return self.get()
            handled = here.turn.handled
            if handled is not None and type(handled) is not Envelope:
                while not self._done:  # the dispatcher drives this coroutine and resumes it when we are done
                    yield self
            else:
                yield from self._on_running_loop().__await__()
            return self._outcome()
        except StopIteration as error:  # from a generator Python would make it an error that names nobody
            raise RuntimeError(_NO_AWAIT_RAISES) from error
        except BaseException:
            del self  # the frames of the error would keep it
            raise

    __iter__ = __await__

    def _on_running_loop(self) -> "asyncio.Future[None]":
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()

        def wake_up() -> None:
            if not woken.done():
                woken.set_result(None)

        def push(_: Future[T]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(wake_up)

        woken.add_done_callback(lambda _: self.forget_callback(push))
        self.add_done_callback(push)
        return woken

    # -- deriving ----------------------------------------------------------------------------------

    def map(self, func: Callable[[T], M]) -> "Future[M]":
        """A future of ``func(value)``, computed when this one completes; of the error, if one is raised."""
        return self._derive((self,), lambda values: func(values[0]))

    def _derive(
        self, sources: "tuple[Future[Any], ...]", function: Callable[[list[Any]], Any]
    ) -> "Future[Any]":
        derived: Future[Any] = Future(sources)
        derivation = Derivation(derived, sources, function)
        if any(source._hook is not None for source in sources):
            derivation.hook()
        derivation()
        return derived

    def filter(self: "Future[Iterable[J]]", func: Callable[[J], bool]) -> "Future[Iterable[J]]":
        """A future of the items for which ``func(item)`` is true."""
        return self.map(lambda items: list(filter(func, items)))

    def reduce(self: "Future[Iterable[J]]", func: Callable[[R, J], R], *args: R) -> "Future[R]":
        """A future of the items folded from the left by ``func(folded, item)``."""
        return self.map(lambda items: functools.reduce(func, items, *args))

    def join(self, *futures: pykka.Future[Any]) -> "Future[Iterable[Any]]":
        """A future of the list of all results, in the order given; the first error, if there is one."""
        sources = (self, *futures)
        if all(isinstance(source, Future) for source in sources):
            return self._derive(cast("tuple[Future[Any], ...]", sources), list)
        joined: Future[Iterable[Any]] = Future()
        joined.set_get_hook(getter_of(sources))
        return joined


# Callbacks of our own, which set nothing off that is not put off, and do no harm when called twice.
_AT_ONCE: frozenset[type[Any]] = frozenset({Handler, Debt, Waker})
_OWN = _AT_ONCE | {Derivation}  # compared by identity, and there once
