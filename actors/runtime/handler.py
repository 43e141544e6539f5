"""An ``async`` handler under way, and what a proxy asks of an actor."""

from _thread import LockType, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from pykka import ActorDeadError, messages
from pykka._introspection import get_attr_directly

from showcaller.actors.runtime.doubt import look_after
from showcaller.actors.runtime.envelope import Envelope

if TYPE_CHECKING:
    from showcaller.actors.runtime.actor import Actor
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.futures import Future


class Handler:
    """A coroutine, the envelope it answers (if any), and what it waits for; system mail when that is done.

    It is the callback of the future it waits for. Everything but ``wake`` is called by whoever holds the
    cell's gate. The context variables that the coroutine sets are its own, as those of an asyncio task are.
    """

    __slots__ = ("alive", "cell", "context", "coroutine", "envelope", "starting", "waits_for")

    def __init__(
        self, cell: "Cell", coroutine: Any, envelope: Envelope | None, *, starting: bool = False
    ) -> None:
        self.cell = cell
        self.coroutine = coroutine
        self.context = copy_context()
        self.envelope = envelope
        self.starting = starting
        self.alive = True
        self.waits_for: Future[Any] | None = None

    def wait(self, future: "Future[Any]") -> None:
        """Have the coroutine go on when the future is done."""
        self.waits_for = future
        if self.cell._system is None:
            self.cell._system_mail()  # there when the callback runs, and made without a race
        future.add_done_callback(self)

    def wake(self, _: "Future[Any]") -> None:
        """Hand ourselves to the actor. Thread-safe."""
        cell = self.cell
        try:
            cell._system.append(self)  # type: ignore[union-attr]
            if cell._gate.acquire(False):
                cell._dispatcher.schedule(cell)
        except RecursionError:
            start_new_thread(look_after, (cell,))
            raise
        except BaseException:
            look_after(cell)
            raise

    __call__ = wake

    def forget_wait(self) -> None:
        """No longer wait: what was awaited will not wake us."""
        if self.waits_for is not None:
            self.waits_for.forget_callback(self)
            self.waits_for = None


class Blocked:
    """A handler that waits in ``future.get()``, until its supervisor is gone or has no more time for it."""

    __slots__ = ("broken_off", "waits_for", "woken")

    def __init__(self, future: "Future[Any]") -> None:
        self.waits_for = future
        self.woken: LockType | None = None  # what its thread sleeps on
        self.broken_off = False

    def break_off(self) -> None:
        """Let it wait no longer: ``get()`` raises. Thread-safe."""
        self.broken_off = True
        wake(self.woken)


def wake(woken: LockType | None) -> None:
    """Let the thread go on that sleeps on this lock, if it has not been woken yet."""
    if woken is not None:
        with suppress(RuntimeError):  # it has
            woken.release()


def break_off(cell: "Cell") -> None:
    """Let a handler of this actor wait no longer; the order to kill it is in its mail."""
    hold = cell._hold
    if type(hold) is Blocked:
        hold.break_off()


def may_not_wait(cell: "Cell") -> bool:
    """True if a handler of this actor may not wait any more: its supervisor is gone, or waits for its end."""
    system = cell._system
    return bool(system) and any(getattr(order, "breaks_off", False) for order in system[:])  # type: ignore[index]


def broken_off(cell: "Cell | None") -> ActorDeadError:
    """Give the error of a wait that was broken off."""
    return ActorDeadError(
        f"{cell} was killed while it waited: its shutdown time is over, or its supervisor was killed"
    )


class Limbo:
    """Why an actor takes no mail between two lives."""

    __slots__ = ()
    waits_for = None


LIMBO = Limbo()


def perform(actor: "Actor", message: Any) -> Any:
    """Carry out what a proxy asked for."""
    kind = type(message)
    if kind is messages.ProxyCall:
        callee: Callable[..., Any] = get_attr_directly(actor, message.attr_path)
        return callee(*message.args, **message.kwargs)
    if kind is messages.ProxyGetAttr:
        return get_attr_directly(actor, message.attr_path)
    parent = get_attr_directly(actor, message.attr_path[:-1])
    return setattr(parent, message.attr_path[-1], message.value)
