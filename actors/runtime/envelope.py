"""Mail that is more than a plain message. A ``tell`` puts the bare message into the mailbox.

Three words for three questions. *Own* mail: is anything lost when nobody handles it? No: the runtime sent it
(``OwnMail``, and whatever ``ending.is_own`` says so of), so it is no dead letter and finds room in every
mailbox. *Special* mail: does a slice hand it to ``on_receive``? No: its class stands in ``SPECIAL``. *System*
mail: does it wait behind the rest? No: it lies in a list of its own (see ``cell.py``, ``orders.py``). News of
children, for one, are own mail, and neither special nor system mail: a supervisor handles them.
"""

from typing import TYPE_CHECKING, Any

import pykka
from pykka import messages

if TYPE_CHECKING:
    from showcaller.actors.runtime.futures import Future


class Envelope:
    """A message whose sender waits for a reply; ``reply`` is None once somebody has taken it."""

    __slots__ = ("message", "reply")
    stopped: bool | None = None  # what an order to stop is answered with

    def __init__(self, message: Any, reply: "Future[Any]") -> None:
        self.message = message
        self.reply: Future[Any] | None = reply

    def __repr__(self) -> str:
        return f"Envelope({self.message!r})"


class StopAsk(Envelope):
    """An order to stop from our own refs, answered with True."""

    __slots__ = ()
    stopped: bool | None = True


class OwnMail:
    """Mail of the runtime's own: nothing is lost when an actor dies before it."""

    __slots__ = ()


class Start(OwnMail):
    """The first mail of every actor that nobody supervises: run ``on_start``."""

    __slots__ = ()


class Shutdown(OwnMail):
    """A supervisor's order to stop after the mail that is there; ``keep`` the ref for a restart.

    It is ``void`` when the life it was meant for ended before it got there.
    """

    __slots__ = ("keep", "void")

    def __init__(self, *, keep: bool) -> None:
        self.keep = keep
        self.void = False


START = Start()
ActorStop: type[Any] = messages._ActorStop  # pykka's own stop message, so that pykka's refs and ours agree

STOP: Any = ActorStop()

# Looked up by exact class: a set test is several times faster than a chain of isinstance.
SPECIAL: frozenset[type[Any]] = frozenset(
    {
        Envelope,
        StopAsk,
        Start,
        Shutdown,
        ActorStop,
        messages.ProxyCall,
        messages.ProxyGetAttr,
        messages.ProxySetAttr,
    }
)


def dead(name: object) -> pykka.ActorDeadError:
    """The error of an ask or a tell to an actor that has stopped."""
    return pykka.ActorDeadError(f"{name} not found")
