"""Refs of actors whose mailbox is bounded."""

import threading
from _thread import start_new_thread
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import pykka

from showcaller.actors.runtime import ending
from showcaller.actors.runtime.doubt import look_after
from showcaller.actors.runtime.envelope import Envelope, dead
from showcaller.actors.runtime.errors import MailboxFull
from showcaller.actors.runtime.exits import DeadLetter
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.limited_mail import LimitedMail
from showcaller.actors.runtime.mailbox_terms import refuse_nonsense
from showcaller.actors.runtime.ref import ActorRef

if TYPE_CHECKING:
    from showcaller.actors.runtime.base_dispatcher import BaseDispatcher

A = TypeVar("A", bound=pykka.Actor)


class BoundedRef(ActorRef[A]):
    """A ref that lets at most ``mailbox_limit`` messages wait; what it does with more is ``mailbox_policy``.

    ``refuse``: ``tell`` raises ``MailboxFull``. ``drop_newest``: the told message becomes a dead letter.
    ``drop_oldest``: the message that waits longest makes room; told, it becomes a dead letter, asked, it
    is answered with ``MailboxFull``. An ``ask`` that finds no room ends in ``MailboxFull`` under the first
    two. Orders to stop always find room. The message being handled does not count. A ``DeadLetter`` for
    which there is no room is left out under every policy: the dispatcher's count has it.

    Senders and the taker share a lock here, since dropping the oldest takes from the front: it is paid
    only by actors that declare a limit. Each order takes the same time however much mail waits: the mail is
    a deque, how much of it is the runtime's own, for which the limit does not count, is known, and who
    drops the oldest message passes over own mail that is older only once.
    """

    __slots__ = ("_limit", "_own", "_policy", "_room")

    def __init__(self, actor: Any, dispatcher: "BaseDispatcher") -> None:
        refuse_nonsense(type(actor))  # it may have been changed since the class was made
        super().__init__(actor, dispatcher)
        self._limit, self._policy = type(actor).mailbox_limit, type(actor).mailbox_policy
        self._mail: LimitedMail = LimitedMail(self._mail)  # type: ignore[assignment]
        self._own = len(self._mail)
        self._room = threading.RLock()

    # -- sending -----------------------------------------------------------------------------------

    def tell(self, message: Any) -> None:
        """Put a message into the mailbox, or do what the policy says.

        Raises ``pykka.ActorDeadError`` when the actor has stopped, ``MailboxFull`` under ``refuse``.
        """
        if self._actor is None:
            raise dead(self)
        self._send(message)

    def _ask(self, message: Any, future: Future[Any]) -> None:
        self._send(Envelope(message, future))

    def _send(self, mail: Any) -> None:
        if ending.is_own(mail):
            self.post(mail)
            return
        with self._room:
            full = self._mail.waiting() - self._own >= self._limit
            dropped = mail
            if not full:
                self._mail.append(mail)
            elif self._policy == "drop_oldest":
                self._mail.append(mail)  # first, so that it is never empty while there is mail
                dropped = self._mail.drop_oldest(ending.is_own)
        try:
            if full:
                self._turn_away(dropped)
        finally:
            self._try_gate()

    def post(self, message: Any) -> None:
        """Put mail of the runtime's own into the mailbox, but no dead letter too many. Thread-safe."""
        with self._room:
            if type(message) is DeadLetter and self._mail.waiting() >= self._limit:
                return
            self._own += ending.is_own(message)
            self._mail.append(message)
        self._try_gate()

    def _try_gate(self) -> None:
        try:
            if self._gate.acquire(False):
                self._dispatcher.schedule(self)
        except RecursionError:
            start_new_thread(look_after, (self,))
            raise
        except BaseException:
            look_after(self)
            raise

    def _turn_away(self, mail: Any) -> None:
        full = MailboxFull(
            f"{self} lets no more than {self._limit} messages wait (mailbox_limit; policy {self._policy!r})"
        )
        if type(mail) is Envelope:
            if mail.reply is not None:
                mail.reply.try_set_exception(full)
        elif self._policy == "refuse":
            raise full
        else:
            self._dispatcher.dead_letter(self, mail)

    # -- taking ------------------------------------------------------------------------------------

    def run_slice(self) -> int:
        """Handle system mail, or one message: those taken in advance could no longer be dropped."""
        actor = self._actor
        if actor is None:
            return ending.refuse_all(self)
        if self._system or self._hold is not None:
            return self._run_held(actor)
        with self._room:
            waiting = self._mail.waiting()
            batch = [self._mail.take_oldest()] if waiting else []
            self._own -= sum(map(ending.is_own, batch))
        self.counters.note_backlog(waiting)
        self._handle(actor, iter(batch))
        return len(batch)

    def put_back(self, rest: Iterable[Any]) -> None:
        """Put what a slice took and did not handle back in front of the mail."""
        unhandled = list(rest)
        with self._room:
            self._own += sum(map(ending.is_own, unhandled))
            self._mail.put_back(unhandled)
        self.counters.messages -= len(unhandled)

    def take_all(self) -> list[Any]:
        """Empty the mailbox."""
        with self._room:
            taken = list(self._mail.copy())
            self._mail.passed.clear()
            self._mail.clear()
            self._own = 0
        return taken
