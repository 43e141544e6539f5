"""The cell: an actor's mailbox, its gate, and how one slice of its mail is handled.

Whoever holds the gate is the only one who may run the actor, and the cell stands in a ready queue or
runs exactly while the gate is held. A sender appends its message and then tries the gate: if it gets
it, nobody was running the actor and the sender schedules the cell; if not, the holder looks at the mail
once more after it has let go of the gate. So of sender and holder at least one sees the message, and
one of them gets the gate.

This needs what Python gives with and without the GIL: append, slice copy, slice deletion and
``Lock.acquire(False)`` are atomic, and what two threads do to lists, locks and attributes can be put in
one order that all threads agree on. (On free-threaded builds lists and locks take an atomic
read-modify-write each, which is the fence between a sender's append and its look at the gate.) Only the
holder of the gate deletes mail, writes ``_hold`` and replaces the actor, so those need no more.

System mail (a coroutine to go on with, kill, restart) lies in a list of its own and overtakes the rest:
it is looked at before a slice and after every message. ``_hold`` says why no other mail is taken now: a
coroutine that waits, a handler blocked in ``get()`` (that one keeps the gate), or a failed actor whose
supervisor has not decided yet. A held cell has let go of its gate, so system mail gets through, and a
message that comes meanwhile costs one empty slice.

Death is one step: ``_actor`` becomes None. From then on a new message is refused, and one that slipped
in behind the step finds the gate free, gets the cell scheduled, and is refused by that slice.
"""

from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Iterable, Iterator
from types import CoroutineType
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from showcaller.actors.runtime import ending
from showcaller.actors.runtime.bridge import foreign_awaitable, named_foreign
from showcaller.actors.runtime.context import here
from showcaller.actors.runtime.cycles import cycle_of, cycle_of_handler, may_wait
from showcaller.actors.runtime.doubt import look_after
from showcaller.actors.runtime.envelope import SPECIAL, START, ActorStop, Envelope, Shutdown, Start, StopAsk
from showcaller.actors.runtime.errors import AskCycle
from showcaller.actors.runtime.exc_info import forget_our_frame
from showcaller.actors.runtime.exits import KILLED
from showcaller.actors.runtime.extras import Extras, extras_lock
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.handler import Handler, perform
from showcaller.actors.runtime.orders import KILL_FOR_GOOD
from showcaller.actors.runtime.unfailing_log import UnfailingLogger

if TYPE_CHECKING:
    from showcaller.actors.runtime.actor import Actor
    from showcaller.actors.runtime.base_dispatcher import BaseDispatcher

logger = UnfailingLogger("pykka")

SLICE = 256  # messages an actor may handle before it yields its place
LONG_BACKLOG = 16 * SLICE  # from here on, moving the rest of the mail up costs more than handling a slice
LONG_SLICE = 16 * SLICE  # so more is taken at once: still about a millisecond of plain handlers


class Cell:
    """What a ref points into: it owns the mailbox, and the actor while that lives."""

    __slots__ = ("_actor", "_dispatcher", "_extras", "_gate", "_hold", "_mail", "_system", "counters")

    def __init__(self, actor: "Actor", dispatcher: "BaseDispatcher") -> None:
        self._actor: Actor | None = actor
        self.counters = dispatcher.counters_of(type(actor))
        self._dispatcher = dispatcher
        self._mail: list[Any] = [START]
        self._system: list[Any] | None = None
        self._hold: Any = None
        self._gate: LockType = allocate_lock()
        self._gate.acquire(False)  # let go when ``on_start`` has run
        self._extras: Extras | None = None

    def extras(self) -> Extras:
        """The rarely needed parts, made on first use. Thread-safe."""
        if self._extras is None:
            with extras_lock:
                if self._extras is None:
                    self._extras = Extras()
        return self._extras

    def urn(self) -> str:
        """A unique name, made on first use. Thread-safe."""
        extras = self.extras()
        if extras.urn is None:
            urn = uuid4().urn
            with extras_lock:
                if extras.urn is None:
                    extras.urn = urn
        return extras.urn

    # -- putting mail in ---------------------------------------------------------------------------

    def post(self, message: Any) -> None:
        """Put mail of the runtime's own into the mailbox; a dead actor refuses it. Thread-safe."""
        self._put(self._mail, message)

    def post_system(self, message: Any) -> None:
        """Put mail in that overtakes what waits, and reaches an actor whose coroutine waits. Thread-safe."""
        self._put(self._system_mail(), message)

    def _put(self, mail: list[Any], message: Any) -> None:
        try:
            mail.append(message)
            if self._gate.acquire(False):
                self._dispatcher.schedule(self)
        except RecursionError:
            start_new_thread(look_after, (self,))
            raise
        except BaseException:
            look_after(self)
            raise

    def _system_mail(self) -> list[Any]:
        if self._system is None:
            with extras_lock:
                if self._system is None:
                    self._system = []
        return self._system

    # -- one slice ---------------------------------------------------------------------------------

    def run_slice(self) -> int:
        """Handle system mail and a slice of the rest, then let go of the gate; gives how many messages.

        Called by a dispatcher that holds the gate on this cell's behalf.
        """
        actor = self._actor
        if actor is None:
            return ending.refuse_all(self)
        if self._system or self._hold is not None:
            return self._run_held(actor)
        mail = self._mail
        if len(mail) == 1:
            message = mail.pop(0)
            try:
                special = type(message) in SPECIAL
            except Exception:  # its class cannot be hashed: it fails as it does among others
                special = True
            if special:
                self._handle(actor, iter((message,)))
            else:
                self._handle_one(actor, message)
            return 1
        batch = mail[:SLICE] if len(mail) < LONG_BACKLOG else mail[:LONG_SLICE]
        taken, rest = len(batch), iter(batch)
        del mail[:taken], batch  # this frame may be kept by an error, as long as that is
        if taken >= SLICE:
            self.counters.note_backlog(taken + len(mail))
        self._handle(actor, rest)
        return taken

    def _run_held(self, actor: "Actor") -> int:
        if self._run_system(actor):
            self.let_go()
        return 0

    def _handle_one(self, actor: "Actor", message: Any) -> None:
        """Handle the only plain message there is: as ``_handle``, without its loop."""
        try:
            result = actor.on_receive(message)
        except BaseException as error:
            ending.fail(self, actor, error, ())
            return
        if result is None or type(result) is not CoroutineType or self._drive_told(actor, result):
            self.let_go()

    def _handle(self, actor: "Actor", rest: Iterator[Any]) -> None:
        receive = actor.on_receive
        try:
            for message in rest:
                if type(message) in SPECIAL:
                    if not self._handle_special(actor, message, rest):
                        return
                else:
                    result = receive(message)
                    if result is not None and type(result) is CoroutineType:  # noqa: SIM102 - the hot path
                        if not self._drive(actor, Handler(self, result, None), rest):
                            return
                if self._system:  # kill and restart do not wait for the rest of the slice
                    self.put_back(rest)
                    break
        except BaseException as error:
            ending.fail(self, actor, error, rest)
        else:
            self.let_go()

    def put_back(self, rest: Iterable[Any]) -> None:
        """Put what a slice took and did not handle back in front of the mail."""
        unhandled = list(rest)
        if unhandled:
            self._mail[0:0] = unhandled
            self.counters.messages -= len(unhandled)

    def _drive_told(self, actor: "Actor", coroutine: Any) -> bool:
        try:
            return self._drive(actor, Handler(self, coroutine, None), ())
        except BaseException as error:
            ending.fail(self, actor, error, ())
            return False

    def let_go(self) -> None:
        """Open the gate, and take it again if there is something to do that its sender left to us."""
        gate = self._gate
        gate.release()
        if (self._system or (self._mail and (self._hold is None or self._actor is None))) and gate.acquire(
            False
        ):
            self._dispatcher.schedule(self)

    def _run_system(self, actor: "Actor") -> bool:
        """Handle what overtakes other mail; False when the slice is over."""
        system = self._system
        try:
            while system:
                message = system.pop(0)
                if type(message) is Handler:
                    if message.alive and not self._drive(actor, message, ()):
                        return False
                elif not message.carry_out(self, actor):
                    return False
                elif self._actor is not None:
                    actor = self._actor  # a restart has put another one there
        except BaseException as error:
            ending.fail(self, actor, error, ())
            return False
        return True

    def take_all(self) -> list[Any]:
        """Empty the mailbox, for who holds the gate of a dead actor."""
        mail = self._mail
        taken = mail[:]
        del mail[: len(taken)]
        return taken

    def kill_for_good(self) -> None:
        """End the actor as soon as its handler gives control, whatever its supervisor thinks. Thread-safe."""
        self.post_system(KILL_FOR_GOOD)

    def abandon(self) -> None:
        """End without running, for a dispatcher that is closed; the gate is held on the cell's behalf."""
        actor = self._actor
        if actor is None:
            ending.refuse_all(self)
        else:
            ending.end(self, actor, KILLED, (), keep=False)

    # -- mail that is more than a message ----------------------------------------------------------

    def _handle_special(self, actor: "Actor", message: Any, rest: Iterator[Any]) -> bool:
        """Handle one special message; False when the slice is over (stopped, suspended)."""
        kind = type(message)
        if kind is Envelope:
            return self._answer(actor, message, rest)
        if kind is Start:
            return self.start_actor(actor, rest)
        if kind is ActorStop or kind is StopAsk or kind is Shutdown:
            return ending.stop(self, actor, message, rest)
        result = perform(actor, message)
        if type(result) is CoroutineType:
            return self._drive(actor, Handler(self, result, None), rest)
        return True

    def start_actor(self, actor: "Actor", rest: Iterable[Any]) -> bool:
        """Run ``on_start``; False when the slice is over (it failed, or waits)."""
        try:
            result = cast("Any", actor).on_start()
        except BaseException as error:
            ending.fail(self, actor, error, rest, starting=True)
            return False
        if type(result) is CoroutineType:
            return self._drive(actor, Handler(self, result, None, starting=True), rest)
        ending.started(self)
        return True

    def _answer(self, actor: "Actor", envelope: Envelope, rest: Iterator[Any]) -> bool:
        message = envelope.message
        if type(message) is ActorStop:
            return ending.stop(self, actor, envelope, rest)
        turn = here.turn
        turn.handled = envelope
        try:
            result = perform(actor, message) if type(message) in SPECIAL else actor.on_receive(message)
        except BaseException as error:
            self._answer_error(envelope, error)
            return True
        finally:
            turn.handled = None
        if type(result) is CoroutineType:
            return self._drive(actor, Handler(self, result, envelope), rest)
        self._settle(envelope, result)
        return True

    def _settle(self, envelope: Envelope, value: Any) -> None:
        if envelope.reply is not None and not envelope.reply.try_set(value):
            self._dispatcher.late_reply()

    def _answer_error(self, envelope: Envelope, error: BaseException) -> None:
        """Give the error to who waits; one that nobody gets, or that is no ``Exception``, fails the actor."""
        reply, envelope.reply = envelope.reply, None  # frames of this error may keep the envelope
        if reply is None:
            raise error
        logger.info("Exception returned from %s to caller:", self, exc_info=error)
        if not reply.try_set_exception(error):
            self._dispatcher.late_reply()
        if not isinstance(error, Exception):
            raise error

    # -- async handlers ----------------------------------------------------------------------------

    def _drive(self, actor: "Actor", handler: Handler, rest: Iterable[Any]) -> bool:
        """Run a coroutine to its next wait; False when the slice is over because the actor waits with it."""
        if handler is self._hold:
            self._hold = None
            self._dispatcher.suspended.pop(self, None)
        advance, argument = handler.coroutine.send, None
        turn = here.turn
        while True:
            turn.handled = handler
            try:
                waits_for = handler.context.run(advance, argument)
            except StopIteration as stop:
                self._finish(actor, handler, stop.value)
                return True
            except BaseException as error:
                return self._coroutine_failed(actor, handler, error, rest)
            finally:
                turn.handled = None
            problem: Exception | None
            if not issubclass(type(waits_for), Future):
                problem = foreign_awaitable(handler.coroutine, waits_for)
            elif actor.reentrant:
                problem = self._wait_aside(handler, waits_for)
                if problem is None:
                    return True
            else:
                problem = self._suspend(handler, waits_for)
                if problem is None:
                    if rest != ():
                        self.put_back(rest)
                    self.let_go()
                    return False
            advance, argument = handler.coroutine.throw, problem

    def _finish(self, actor: "Actor", handler: Handler, value: Any) -> None:
        self._forget(handler)
        if handler.starting:
            ending.started(self)
        elif handler.envelope is not None:
            self._settle(handler.envelope, value)

    def _coroutine_failed(
        self, actor: "Actor", handler: Handler, error: BaseException, rest: Iterable[Any]
    ) -> bool:
        self._forget(handler)
        forget_our_frame(error)
        error = named_foreign(handler.coroutine, error)
        if handler.starting:
            ending.fail(self, actor, error, rest, starting=True)
            return False
        if handler.envelope is None:
            raise error
        self._answer_error(handler.envelope, error)
        return True

    def _forget(self, handler: Handler) -> None:
        handler.alive = False
        if self._extras is not None and self._extras.pending is not None:
            self._extras.pending.pop(handler, None)
            if not self._extras.pending:
                self._dispatcher.suspended.pop(self, None)

    def _wait_aside(self, handler: Handler, waits_for: "Future[Any]") -> AskCycle | None:
        """Let a reentrant actor go on with other mail while one of its coroutines waits."""
        extras = self.extras()
        if extras.pending is None:
            extras.pending = {}
        extras.pending[handler] = None
        self._dispatcher.suspended[self] = None
        if handler.envelope is not None and handler.envelope.reply is not None:
            handler.envelope.reply.answerer = handler  # not just any handler of this actor
        handler.wait(waits_for)
        return cycle_of_handler(handler) if may_wait(waits_for.answerer) else None

    def _suspend(self, handler: Handler, waits_for: "Future[Any]") -> AskCycle | None:
        """Hold the actor until the future is done, or give the error of a wait that could never end."""
        self._hold = handler
        self._dispatcher.suspended[self] = None
        handler.wait(waits_for)
        # Held first, looked second: of two that close a cycle at once, at least one sees the other.
        problem = cycle_of(self) if may_wait(waits_for.answerer) else None
        if problem is not None:
            handler.forget_wait()
            self._dispatcher.suspended.pop(self, None)
        return problem


__all__ = ["SLICE", "Cell"]
