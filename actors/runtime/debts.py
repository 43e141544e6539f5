"""Replies that a handler has taken over: who owes them from then on, and what ends them when nobody will.

A debt stands in the books of one cell (``Extras.owed``) from the moment the reply is taken until it is
given, handed on, or the life that owes it is over. Whoever completes the reply strikes it out, on any thread:
the books are a dict whose orders are atomic, and who strikes out the last debt looks once more.
"""

from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.context import current_cell, here
from showcaller.actors.runtime.envelope import Envelope
from showcaller.actors.runtime.errors import ReplyLost
from showcaller.actors.runtime.exits import NORMAL, Exit
from showcaller.actors.runtime.extras import extras_lock

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.futures import Future
    from showcaller.actors.runtime.ref import ActorRef


class Debt:
    """A reply that the present life of a cell owes; a callback of that reply."""

    __slots__ = ("_cell", "_reply")

    def __init__(self, cell: "Cell", reply: "Future[Any]") -> None:
        """Enter it into the books."""
        self._cell = cell
        self._reply: Future[Any] | None = reply
        extras = cell.extras()
        if extras.owed is None:
            with extras_lock:
                if extras.owed is None:
                    extras.owed = {}
        extras.owed[self] = None
        cell._dispatcher.owing[cell] = None
        reply.answerer = self
        reply.add_done_callback(self)

    def __str__(self) -> str:
        return str(self._cell)

    def __call__(self, reply: "Future[Any]") -> None:
        """Strike it out: the reply is there."""
        if reply.answerer is self:
            reply.answerer = None
        self._strike_out()

    def hand_on(self, reply: "Future[Any]") -> None:
        """Strike it out: somebody else owes the reply now."""
        reply.forget_callback(self)
        self(reply)

    def end(self, error: ReplyLost) -> None:
        """End the reply in this error, unless it is there."""
        reply = self._reply
        if reply is not None and not reply.try_set_exception(error):
            self._strike_out()

    def _strike_out(self) -> None:
        self._reply = None
        cell = self._cell
        owed = cell.extras().owed
        if owed is not None and owed.pop(self, self) is None and not owed:
            owing = cell._dispatcher.owing
            owing.pop(cell, None)
            if owed:
                owing[cell] = None


def take_reply() -> "Future[Any] | None":
    """Take over the reply of the message being handled, to answer it later.

    The handler's return value is then ignored, and the actor must ``set`` the future; an error that the
    handler raises afterwards is a failure of the actor. If its life ends before (a restart is such an end
    too), who waits gets ``pykka.ActorDeadError``; not so if the reply was handed on by ``ref.forward`` or
    ``hand_on``. Gives None when nobody waits (the message was told, or its reply is taken already).
    Anybody who has it may set it, so waiting for it never counts as a cycle: who asks back gives a timeout.
    """
    handled = here.turn.handled
    envelope = handled if handled is None or type(handled) is Envelope else handled.envelope
    if envelope is None:
        return None
    reply, envelope.reply = envelope.reply, None
    if reply is not None:
        cell = current_cell()
        assert cell is not None, "who handles a message is a cell"
        Debt(cell, reply)
    return reply


def hand_on(reply: "Future[Any] | None", to: "ActorRef[Any] | None" = None) -> None:
    """Let a reply that was taken over no longer end with the life that took it.

    From here on it ends with the present life of ``to``, which has it or gets it in some message; without
    ``to`` it ends with nobody's: whoever has it must ``set`` it. None (nobody waits) is let pass.
    ``ref.forward`` hands on the message as well. Thread-safe.
    """
    if reply is None:
        return
    refuse_no_reply(reply)
    if to is not None and not hasattr(to, "_dispatcher"):
        raise TypeError(f"a reply cannot be handed on to {to!r}: give the ref of one of showcaller's actors")
    release(reply)
    if to is not None and not reply.done:
        debt = Debt(to, reply)
        if to._actor is None:  # first entered, then looked: who ends a life does it the other way round
            debt.end(ReplyLost(_text(to, NORMAL), to._dispatcher.late_reply))


def refuse_no_reply(reply: object) -> None:
    """Raise ``TypeError`` for what is no future of ours."""
    if not hasattr(reply, "answerer"):
        raise TypeError(f"a reply to pass on cannot be {reply!r}: give what take_reply gave, or a Future")


def release(reply: "Future[Any]") -> None:
    """Strike the reply out of the books in which it stands, if it does."""
    debt = reply.answerer
    if type(debt) is Debt:
        debt.hand_on(reply)


def end_of(cell: "Cell", reason: Exit) -> ReplyLost:
    """Give the error of who waits for a reply that a life owed and did not give."""
    error = ReplyLost(_text(cell, reason), cell._dispatcher.late_reply)
    error.__cause__ = reason.error
    return error


def _text(cell: "Cell", reason: Exit) -> str:
    why = "" if reason is NORMAL else f": {reason}"
    return f"{cell} ended before it answered{why}"
