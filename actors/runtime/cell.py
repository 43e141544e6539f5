"""The cell: an actor's mailbox, its gate, and how one slice of its mail is handled.

Whoever holds the gate is the only one who may run the actor. A sender appends its message and then
tries the gate: if it gets it, nobody was running the actor and the sender schedules the cell; if not,
the holder looks at the mail once more after it has let go of the gate. Append, slice copy, slice
deletion and ``Lock.acquire(False)`` are atomic in CPython, with and without the GIL, so no message is
missed and none is handled by two.

Death is one step: ``_actor`` becomes None. From then on a new message is refused, and one that slipped
in behind the step finds the gate free, gets the cell scheduled, and is refused by that slice.
"""

import logging
import sys
import threading
from _thread import LockType, allocate_lock
from collections.abc import Callable, Iterator
from types import CoroutineType
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import pykka
from pykka import messages
from pykka._introspection import get_attr_directly

from showcaller.actors.runtime.context import here
from showcaller.actors.runtime.envelope import SPECIAL, START, ActorStop, Envelope, Handler, Resume, Start, dead
from showcaller.actors.runtime.errors import ForeignAwaitable
from showcaller.actors.runtime.futures import Future

if TYPE_CHECKING:
    from showcaller.actors.runtime.actor import Actor
    from showcaller.actors.runtime.dispatcher import BaseDispatcher

logger = logging.getLogger("pykka")

SLICE = 256  # messages an actor may handle before it yields its place


class Extras:
    """What few actors need: made when first asked for, so that an idle actor does not pay for it."""

    __slots__ = ("stopped", "urn", "watchers")

    def __init__(self) -> None:
        self.urn = uuid4().urn
        self.stopped: threading.Event | None = None
        self.watchers: dict[Any, None] = {}


_extras_lock = threading.Lock()


class Cell:
    """What a ref points into: it owns the mailbox, and the actor while that lives."""

    __slots__ = ("_actor", "_dispatcher", "_extras", "_gate", "_mail", "actor_class")

    def __init__(self, actor: "Actor", dispatcher: "BaseDispatcher") -> None:
        self._actor: Actor | None = actor
        self.actor_class: type[Any] = type(actor)
        self._dispatcher = dispatcher
        self._mail: list[Any] = [START]
        self._gate: LockType = allocate_lock()
        self._gate.acquire(False)  # let go when ``on_start`` has run
        self._extras: Extras | None = None

    def extras(self) -> Extras:
        """The rarely needed parts, made on first use. Thread-safe."""
        if self._extras is None:
            with _extras_lock:
                if self._extras is None:
                    self._extras = Extras()
        return self._extras

    # -- one slice ---------------------------------------------------------------------------------

    def run_slice(self) -> int:
        """Handle up to ``SLICE`` messages, then let go of the gate; gives how many were taken.

        Called by a dispatcher that holds the gate on this cell's behalf.
        """
        actor = self._actor
        if actor is None:
            return self._refuse_mail()
        mail = self._mail
        if len(mail) == 1:
            batch = [mail.pop(0)]
        else:
            batch = mail[:SLICE]
            del mail[: len(batch)]
        here.cell = self
        try:
            self._handle(actor, batch)
        finally:
            here.cell = None
        return len(batch)

    def _handle(self, actor: "Actor", batch: list[Any]) -> None:
        rest = iter(batch)
        receive = actor.on_receive
        try:
            for message in rest:
                if type(message) in SPECIAL:
                    if not self._handle_special(actor, message, rest):
                        return
                else:
                    result = receive(message)
                    if result is not None and type(result) is CoroutineType:
                        if not self._drive(actor, Handler(result, None), None, rest):
                            return
        except Exception:
            self._fail(actor, rest)
        except BaseException as error:
            self._stop_everything(actor, error, rest)
        else:
            self._let_go()

    def _let_go(self) -> None:
        gate = self._gate
        gate.release()
        if self._mail and gate.acquire(False):
            self._dispatcher.schedule(self)

    # -- mail that is more than a message ----------------------------------------------------------

    def _handle_special(self, actor: "Actor", message: Any, rest: Iterator[Any]) -> bool:
        """Handle one special message; False when the slice is over (stopped, suspended)."""
        kind = type(message)
        if kind is Envelope:
            return self._answer(actor, message, rest)
        if kind is Start:
            return self._start(actor, rest)
        if kind is ActorStop:
            self._stop(actor, rest)
            return False
        if kind is Resume:
            return self._drive(actor, message.handler, message.awaited, rest)
        result = _perform(actor, message)
        if type(result) is CoroutineType:
            return self._drive(actor, Handler(result, None), None, rest)
        return True

    def _start(self, actor: "Actor", rest: Iterator[Any]) -> bool:
        try:
            result = cast("Any", actor).on_start()
        except Exception:
            self._report(actor)
            self._die(actor, rest)
            return False
        if type(result) is CoroutineType:
            return self._drive(actor, Handler(result, None), None, rest)
        return True

    def _answer(self, actor: "Actor", envelope: Envelope, rest: Iterator[Any]) -> bool:
        message = envelope.message
        if type(message) is ActorStop:
            self._stop(actor, rest)
            _settle(envelope, None)
            return False
        here.envelope = envelope
        try:
            result = _perform(actor, message) if type(message) in SPECIAL else actor.on_receive(message)
        except Exception:
            self._answer_error(envelope)
            return True
        finally:
            here.envelope = None
        if type(result) is CoroutineType:
            return self._drive(actor, Handler(result, envelope), None, rest)
        _settle(envelope, result)
        return True

    def _answer_error(self, envelope: Envelope) -> None:
        logger.info(f"Exception returned from {self} to caller:", exc_info=sys.exc_info())
        if envelope.reply is not None:
            envelope.reply.try_set_exception()

    # -- async handlers ----------------------------------------------------------------------------

    def _drive(
        self, actor: "Actor", handler: Handler, awaited: "Future[Any] | None", rest: Iterator[Any]
    ) -> bool:
        """Run a coroutine to its next wait; False when the slice is over because it waits.

        An actor that is not reentrant keeps its gate while it waits, so no other message is handled.
        """
        here.envelope = handler.envelope
        try:
            waits_for = self._advance(handler)
        except StopIteration as stop:
            if handler.envelope is not None:
                _settle(handler.envelope, stop.value)
            return True
        except Exception:
            if handler.envelope is None:
                raise
            self._answer_error(handler.envelope)
            return True
        finally:
            here.envelope = None
        if actor.reentrant:
            waits_for.add_done_callback(lambda done: self._deliver(Resume(handler, done)))
            return True
        self._mail[0:0] = list(rest)  # back in front, before anybody can resume us
        waits_for.add_done_callback(lambda done: self._dispatcher.schedule(Resumption(self, handler)))
        return False

    @staticmethod
    def _advance(handler: Handler) -> "Future[Any]":
        waits_for = handler.coroutine.send(None)
        while not isinstance(waits_for, Future):
            waits_for = handler.coroutine.throw(
                ForeignAwaitable(
                    f"{handler.coroutine.__qualname__} awaited {waits_for!r}: in a handler only the runtime's "
                    "futures can be awaited; wrap anything of asyncio in on_loop(loop, coroutine)"
                )
            )
        return waits_for

    def _deliver(self, message: Any) -> None:
        """Put mail of our own into the mailbox, also while the actor dies: then it is refused there."""
        self._mail.append(message)
        if self._gate.acquire(False):
            self._dispatcher.schedule(self)

    def resume(self, handler: Handler) -> None:
        """Go on with a coroutine for which the gate was kept, then with the mail."""
        actor = self._actor
        if actor is None:
            handler.coroutine.close()
            return
        here.cell = self
        rest: Iterator[Any] = iter(())
        try:
            if not self._drive(actor, handler, None, rest):
                return
        except Exception:
            self._fail(actor, rest)
        except BaseException as error:
            self._stop_everything(actor, error, rest)
        else:
            self._let_go()
        finally:
            here.cell = None

    # -- the end -----------------------------------------------------------------------------------

    def _stop(self, actor: "Actor", rest: Iterator[Any]) -> None:
        self._close(actor)
        logger.debug("Stopped %s", actor)
        try:
            actor.on_stop()
        except Exception:
            self._report(actor)
        self._refuse(list(rest))
        self._refuse_mail()

    def _fail(self, actor: "Actor", rest: Iterator[Any]) -> None:
        """A told message raised: report, close, ``on_failure`` (pykka's order)."""
        self._report(actor)
        exc_info = sys.exc_info()
        self._close(actor)
        try:
            actor.on_failure(*exc_info)
        except Exception:
            self._report(actor)
        self._refuse(list(rest))
        self._refuse_mail()

    def _die(self, actor: "Actor", rest: Iterator[Any]) -> None:
        self._close(actor)
        self._refuse(list(rest))
        self._refuse_mail()

    def _stop_everything(self, actor: "Actor", error: BaseException, rest: Iterator[Any]) -> None:
        """pykka's rule: what is no ``Exception`` stops every actor."""
        logger.debug("%r in %s. Stopping all actors.", error, actor)
        self._stop(actor, rest)
        pykka.ActorRegistry.stop_all(block=False)

    @staticmethod
    def _report(actor: "Actor") -> None:
        logger.error(f"Unhandled exception in {actor}:", exc_info=sys.exc_info())

    def _close(self, actor: "Actor") -> None:
        self._actor = None
        actor._unregister()
        with _extras_lock:
            stopped = self._extras.stopped if self._extras is not None else None
        if stopped is not None:
            stopped.set()

    def _refuse_mail(self) -> int:
        """Refuse what waits in the mailbox of a dead actor, and let go of the gate."""
        mail = self._mail[:]
        del self._mail[: len(mail)]
        self._refuse(mail)
        self._let_go()
        return len(mail)

    def _refuse(self, mail: list[Any]) -> None:
        for message in mail:
            if type(message) is Envelope and message.reply is not None:
                if type(message.message) is ActorStop:
                    message.reply.try_set(None)
                else:
                    message.reply.try_set_exception(
                        pykka.ActorDeadError(f"{self} stopped before handling the message")
                    )
            elif type(message) is Resume:
                message.handler.coroutine.close()
            else:
                self._dispatcher.dead_letter(self, message)


class Resumption:
    """A scheduled continuation of a coroutine whose actor waits with it."""

    __slots__ = ("cell", "handler")

    def __init__(self, cell: Cell, handler: Handler) -> None:
        self.cell = cell
        self.handler = handler

    def run_slice(self) -> int:
        """Resume the coroutine."""
        self.cell.resume(self.handler)
        return 1


def _settle(envelope: Envelope, value: Any) -> None:
    if envelope.reply is not None:
        envelope.reply.try_set(value)


def _perform(actor: "Actor", message: Any) -> Any:
    """Carry out what a proxy asked for."""
    kind = type(message)
    if kind is messages.ProxyCall:
        callee: Callable[..., Any] = get_attr_directly(actor, message.attr_path)
        return callee(*message.args, **message.kwargs)
    if kind is messages.ProxyGetAttr:
        return get_attr_directly(actor, message.attr_path)
    parent = get_attr_directly(actor, message.attr_path[:-1])
    return setattr(parent, message.attr_path[-1], message.value)


__all__ = ["SLICE", "Cell", "Resumption", "dead"]
