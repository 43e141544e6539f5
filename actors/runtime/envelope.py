"""Mail that is more than a plain message. A ``tell`` puts the bare message into the mailbox."""

from typing import TYPE_CHECKING, Any

import pykka
from pykka import messages

from showcaller.actors.runtime.context import here

if TYPE_CHECKING:
    from showcaller.actors.runtime.futures import Future


class Envelope:
    """A message whose sender waits for a reply; ``reply`` is None once somebody has taken it."""

    __slots__ = ("message", "reply")

    def __init__(self, message: Any, reply: "Future[Any]") -> None:
        self.message = message
        self.reply: Future[Any] | None = reply

    def __repr__(self) -> str:
        return f"Envelope({self.message!r})"


class Start:
    """The first mail of every actor: run ``on_start``."""

    __slots__ = ()


class Resume:
    """A reentrant actor's coroutine whose awaited future is done."""

    __slots__ = ("awaited", "handler")

    def __init__(self, handler: "Handler", awaited: "Future[Any]") -> None:
        self.handler = handler
        self.awaited = awaited


class Handler:
    """An ``async`` handler under way: its coroutine and the envelope it answers, if any."""

    __slots__ = ("coroutine", "envelope")

    def __init__(self, coroutine: Any, envelope: Envelope | None) -> None:
        self.coroutine = coroutine
        self.envelope = envelope


START = Start()
ActorStop: type[Any] = messages._ActorStop  # pykka's own stop message, so that pykka's refs and ours agree

# Looked up by exact class: a set test is several times faster than a chain of isinstance.
SPECIAL: frozenset[type[Any]] = frozenset(
    {Envelope, Start, Resume, ActorStop, messages.ProxyCall, messages.ProxyGetAttr, messages.ProxySetAttr}
)


def take_reply() -> "Future[Any] | None":
    """Take over the reply of the message being handled, to answer it later.

    Call it in a handler, before its first ``await``; the handler's return value is then ignored, and
    whoever holds the future must ``set`` it. Gives None when nobody waits (the message was told).
    """
    envelope = here.envelope
    if envelope is None:
        return None
    reply, envelope.reply = envelope.reply, None
    return reply


def dead(name: object) -> pykka.ActorDeadError:
    """The error of an ask or a tell to an actor that has stopped."""
    return pykka.ActorDeadError(f"{name} not found")
