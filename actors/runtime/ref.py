"""References to actors: pykka's interface over our cell."""

import threading
from _thread import start_new_thread
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

import pykka

from showcaller.actors.runtime.cell import Cell
from showcaller.actors.runtime.context import here
from showcaller.actors.runtime.cycles import refuse_cycle
from showcaller.actors.runtime.debts import refuse_no_reply, release
from showcaller.actors.runtime.doubt import look_after
from showcaller.actors.runtime.envelope import STOP, Envelope, StopAsk, dead
from showcaller.actors.runtime.exits import NORMAL, Terminated
from showcaller.actors.runtime.extras import extras_lock
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.orders import KILL
from showcaller.actors.runtime.proxy import Proxy
from showcaller.actors.runtime.timers import Timer, refuse_no_time

if TYPE_CHECKING:
    from showcaller.actors.runtime.base_dispatcher import BaseDispatcher

A = TypeVar("A", bound=pykka.Actor)
TIMEOUT = "a timeout must be"


class ActorRef(Cell, pykka.ActorRef[A]):
    """A reference through which an actor gets its mail; safe to pass between threads.

    It behaves as pykka's, and adds ``request`` (an ask to await), ``forward`` and timers.
    """

    __slots__ = ()

    # -- what pykka's ref shows --------------------------------------------------------------------

    @property
    def actor_class(self) -> type[A]:  # type: ignore[override]
        """The class of the actor."""
        return self.counters.actor_class

    @property
    def actor_urn(self) -> str:  # type: ignore[override]
        """A unique name, made when first asked for."""
        return self.urn()

    @property
    def actor_stopped(self) -> threading.Event:  # type: ignore[override]
        """An event that is set once the actor has stopped; made when first asked for."""
        extras = self.extras()
        with extras_lock:  # who ends the actor closes it first and looks for the event second
            if extras.stopped is None:
                extras.stopped = threading.Event()
                if self._actor is None:
                    extras.stopped.set()
            return extras.stopped

    @property
    def actor_inbox(self) -> "ActorRef[A]":  # type: ignore[override]
        """The mailbox, which is part of the ref."""
        return self

    def _actor_weakref(self) -> Any:  # type: ignore[override]
        """The actor while it lives (pykka's proxy looks here)."""
        return self._actor

    def __str__(self) -> str:
        return f"{self.actor_class.__name__} ({self.actor_urn})"

    def __repr__(self) -> str:
        return f"<ActorRef for {self}>"

    @property
    def dispatcher(self) -> "BaseDispatcher":
        """The dispatcher that runs the actor."""
        return self._dispatcher

    def __copy__(self) -> Self:
        """The same ref: there is one mailbox, and one life."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """The same ref."""
        return self

    def __reduce_ex__(self, protocol: object) -> Any:
        """Raise ``TypeError``: an actor lives in its process."""
        raise TypeError(f"{self} cannot be pickled: a ref means nothing outside of its process")

    def is_alive(self) -> bool:
        """True until the actor stops."""
        return self._actor is not None

    def proxy(self) -> Proxy[A]:
        """A proxy of the actor, as pykka's; raises ``pykka.ActorDeadError`` when the actor has stopped."""
        return Proxy(actor_ref=self)

    # -- sending -----------------------------------------------------------------------------------

    def tell(self, message: Any) -> None:
        """Put a message into the mailbox; raises ``pykka.ActorDeadError`` when the actor has stopped."""
        if self._actor is None:
            raise dead(self)
        try:
            self._mail.append(message)
            if self._gate.acquire(False):
                self._dispatcher.schedule(self)
        except RecursionError:
            start_new_thread(look_after, (self,))
            raise
        except BaseException:
            look_after(self)
            raise

    @overload
    def ask(self, message: Any, *, block: Literal[False], timeout: float | None = None) -> Future[Any]: ...

    @overload
    def ask(self, message: Any, *, block: Literal[True], timeout: float | None = None) -> Any: ...

    @overload
    def ask(self, message: Any, *, block: bool = True, timeout: float | None = None) -> Any: ...

    def ask(self, message: Any, *, block: bool = True, timeout: float | None = None) -> Any:
        """Send a message and wait for its reply (``block``), or give the future of it, as pykka does.

        ``timeout`` is how many seconds the thread waits, then ``pykka.Timeout`` is raised; the reply still
        comes, to nobody. It means nothing without ``block``: use ``request`` for a future that ends.
        """
        if timeout is not None:
            refuse_no_time(timeout, TIMEOUT)
        future: Future[Any] = Future(self)
        if self._actor is None:
            future.set_exception(dead(self))
        else:
            self._ask(message, future)
        if not block:
            return future
        try:
            return future.get(timeout=timeout)
        except BaseException:
            del future  # or the frames of the error would keep it
            raise

    def request(self, message: Any, *, timeout: float | None = None) -> Future[Any]:
        """Send a message and give the future of its reply, to ``await`` in a handler or on an asyncio loop.

        With a ``timeout`` (seconds on the dispatcher's clock) the future ends in ``pykka.Timeout`` when
        no reply has come by then; a reply that comes later is dropped, and counted (``late_replies``).
        The message is sent: to cancel an asyncio task that awaits the reply does not take it back. The
        future is no coroutine: a task is made of it by ``asyncio.ensure_future``, not ``create_task``.
        """
        if timeout is not None:
            refuse_no_time(timeout, TIMEOUT)
        future = self.ask(message, block=False)
        if timeout is not None:
            self._dispatcher.timers.expire(future, timeout)
        return future

    def forward(self, message: Any, reply: Future[Any] | None) -> None:
        """Pass a message on together with the reply that somebody else waits for (see ``take_reply``)."""
        if reply is None:
            self.tell(message)
            return
        refuse_no_reply(reply)
        if self._actor is None:
            reply.try_set_exception(dead(self))
        else:
            release(reply)
            reply.answerer = self
            self._ask(message, reply)
            if self._hold is not None:
                refuse_cycle(reply, self)

    def _ask(self, message: Any, future: Future[Any]) -> None:
        try:
            self._mail.append(Envelope(message, future))
            if self._gate.acquire(False):
                self._dispatcher.schedule(self)
        except RecursionError:
            start_new_thread(look_after, (self,))
            raise
        except BaseException:
            look_after(self)
            raise

    def tell_at(self, wall: int | datetime, message: Any) -> Timer:
        """Tell a message once the wall clock shows that time; its jumps count.

        Takes milliseconds since the epoch, or a ``datetime`` with a time zone. Raises ``ValueError`` for what
        can only be a mistake, such as seconds since the epoch. It ends as one of ``tell_after`` does.
        """
        return self._timed(self._dispatcher.timers.at(wall, self, message))

    def tell_after(self, seconds: float, message: Any) -> Timer:
        """Tell a message once, that many seconds from now; the timer can be cancelled.

        To a ref that is dead (then) it succeeds: the message becomes a dead letter. A timer that an actor
        sets for itself, in a handler or a hook, ends with its life, of which a restart is an end too; one
        that others set for it stays over restarts, as mail does.
        """
        return self._timed(self._dispatcher.timers.after(seconds, self, message))

    def tell_every(self, seconds: float, message: Any) -> Timer:
        """Tell a message every so many seconds, first after that time, until cancelled or the actor ends.

        Set by the actor itself, it ends with the present life (see ``tell_after``): set it in ``on_start``.
        """
        return self._timed(self._dispatcher.timers.every(seconds, self, message))

    def _timed(self, timer: Timer) -> Timer:
        """Let a timer that an actor sets for itself end with the actor's life."""
        if here.turn.runnable is self:
            extras = self.extras()
            if extras.timers is None:
                extras.timers = {}
            timer.belong_to(extras.timers)
        return timer

    # -- stopping ----------------------------------------------------------------------------------

    @overload
    def stop(self, *, block: Literal[True], timeout: float | None = None) -> bool: ...

    @overload
    def stop(self, *, block: Literal[False], timeout: float | None = None) -> Future[bool]: ...

    @overload
    def stop(self, *, block: bool = True, timeout: float | None = None) -> Any: ...

    def stop(self, *, block: bool = True, timeout: float | None = None) -> Any:
        """Stop the actor after the mail that is already there; True if it was running.

        With ``block=False`` gives the future of that answer.
        """
        if timeout is not None:
            refuse_no_time(timeout, TIMEOUT)
        stopped: Future[bool] = Future(self)
        if self._actor is None:
            stopped.set(False)
        else:
            self.post(StopAsk(STOP, stopped))
        return stopped.get(timeout=timeout) if block else stopped

    def kill(self) -> None:
        """End the actor without ``on_stop`` as soon as its handler returns or awaits, before any other mail.

        A coroutine that waits is closed, its asker gets ``pykka.ActorDeadError``. Under a supervisor it is
        a failure. Does nothing to a dead actor. Thread-safe, never blocks.
        """
        if self._actor is not None:
            self.post_system(KILL)

    # -- watching ----------------------------------------------------------------------------------

    def add_watcher(self, watcher: "ActorRef[Any]") -> None:
        """Tell ``watcher`` one ``Terminated`` when this actor ends for good, or now if so. Thread-safe."""
        refuse_foreign(watcher)
        extras, its = self.extras(), watcher.extras()
        with extras_lock:
            if watcher._actor is None:
                return
            if self._actor is not None:
                extras.watchers, its.watches = extras.watchers or {}, its.watches or {}
                extras.watchers[watcher] = its.watches[self] = None
                return
        watcher.post(Terminated(self, extras.exit or NORMAL))

    def remove_watcher(self, watcher: "ActorRef[Any]") -> None:
        """Tell ``watcher`` nothing; a ``Terminated`` may be in its mailbox already. Thread-safe."""
        refuse_foreign(watcher)
        extras, its = self.extras(), watcher.extras()
        with extras_lock:
            extras.no_longer_watched_by(watcher)
            its.no_longer_watches(self)


def refuse_foreign(ref: object) -> None:
    """Raise ``TypeError`` unless a ref is one of ours: only those can watch and be watched."""
    if not isinstance(ref, ActorRef):
        raise TypeError(
            f"{ref!r} can neither watch nor be watched: base its actor on showcaller's Actor, as actors of "
            "pykka's own classes are not"
        )
