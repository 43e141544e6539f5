"""The in-memory link: two ends in one process, joined by callables that carry batches across."""

from collections.abc import Callable, Sequence
from typing import Protocol

FrameBatch = Sequence[bytes]
Receive = Callable[[FrameBatch], None]
Carry = Callable[[Receive, FrameBatch], None]


class LinkEnd(Protocol):
    """One end of something that carries batches of encoded frames; what a socket has to look like too.

    ``send`` never blocks and may be called from any thread, but by one caller at a time. Without ``soon`` a
    batch may wait for the next one, or for a sign of life that is due anyway. ``connect`` is called once,
    before the other end sends. After ``close`` nothing more is received or carried.
    """

    def connect(self, receive: Receive) -> None:
        """Say who gets the batches that the other end sends."""

    def send(self, batch: FrameBatch, *, soon: bool = True) -> None:
        """Carry a batch to the other end, in order as far as the link keeps order."""

    def renew(self) -> None:
        """Send again after the peer was replaced by one that knows of nothing; until then it gets nothing."""

    def close(self) -> None:
        """Stop receiving and sending; harmless when repeated."""


def straight(receive: Receive, batch: FrameBatch) -> None:
    """Carry a batch by calling the receiver at once, in the sender's thread."""
    receive(batch)


class MemoryEnd:
    """One end of a MemoryLink; see ``LinkEnd``."""

    def __init__(self, carry: Carry) -> None:
        self._carry = carry
        self._receive: Receive | None = None
        self._other: MemoryEnd | None = None
        self._closed = False

    def join(self, other: "MemoryEnd") -> None:
        """Name the end that gets what this one sends."""
        self._other = other

    def connect(self, receive: Receive) -> None:
        """Say who gets the batches that the other end sends; raises RuntimeError the second time."""
        if self._receive is not None:
            raise RuntimeError("this end of the link is connected already: connect it once")
        self._receive = receive

    def send(self, batch: FrameBatch, *, soon: bool = True) -> None:
        """Carry a batch to the other end, at once; dropped when either end is closed."""
        if self._other is not None and not self._closed:
            self._carry(self._other.arrive, batch)

    def arrive(self, batch: FrameBatch) -> None:
        """Take a batch from the carrier; raises RuntimeError before ``connect``, for it would be lost."""
        if self._closed:
            return
        if self._receive is None:
            raise RuntimeError("a batch arrived at an end that nobody connected: connect both ends first")
        self._receive(batch)

    def renew(self) -> None:
        """Nothing to do: what is in this process is not replaced."""

    def close(self) -> None:
        """Stop receiving and sending; harmless when repeated."""
        self._closed = True


class MemoryLink:
    """Two joined ends; ``to_worker`` and ``to_relay`` carry the batches of one direction each.

    A carrier is called with the receiver and the batch, in the sender's thread, and decides when and
    where the receiver runs: at once, on another thread, or later, twice or never, as a test wants it.
    """

    def __init__(self, to_worker: Carry = straight, to_relay: Carry = straight) -> None:
        self.relay_end = MemoryEnd(to_worker)
        self.worker_end = MemoryEnd(to_relay)
        self.relay_end.join(self.worker_end)
        self.worker_end.join(self.relay_end)
