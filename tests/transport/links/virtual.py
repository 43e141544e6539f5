"""Time that passes when nothing is left to do, and links that a test can cut, without threads or sockets."""

import asyncio
import selectors
from collections.abc import Callable
from typing import Any, Protocol, cast

from showcaller.transport.links.conversation import Conversation, News
from showcaller.transport.links.io_thread import IoThread
from showcaller.transport.links.memory import FrameBatch, LinkEnd, MemoryLink, Receive
from showcaller.transport.links.socket_end import SocketEnd
from showcaller.transport.wire.packets import decode_packet, encode_packet


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer as soon as nothing else is due."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        """Give the virtual time in seconds."""
        return self.now

    async def pass_by(self, seconds: float) -> None:
        """Let so much time pass, with all that comes due in it."""
        over = self.create_future()
        self.call_later(seconds, over.set_result, None)
        await over


class _Jumping(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing is left that could ever happen"
        self._loop.now += max(0.0, timeout)
        return super().select(0)


class Wire(Protocol):
    """A link between a relay and a worker, which can be cut; what it has told of the peers is in ``news``."""

    relay_end: LinkEnd
    worker_end: LinkEnd
    news: list[tuple[str, News]]
    carried: int

    def cut(self) -> None:
        """Carry nothing from now on."""

    def mend(self) -> None:
        """Carry again, everything twice from here on."""


class HeldMemory:
    """The memory link, whose carriers keep what they get while it is cut, and then deliver twice."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        link = MemoryLink(self._carry, self._carry)
        self.relay_end: LinkEnd = link.relay_end
        self.worker_end: LinkEnd = link.worker_end
        self.news: list[tuple[str, News]] = []
        self.carried = 0
        self._held: list[tuple[Receive, FrameBatch]] | None = None
        self._times = 1

    def cut(self) -> None:
        """Keep what is to be carried."""
        self._held = []

    def mend(self) -> None:
        """Deliver it the wrong way round, and then again in order."""
        held, self._held = self._held or [], None
        self._times = 2
        for receive, batch in [*reversed(held), *held]:
            self._loop.call_soon(receive, batch)

    def _carry(self, receive: Receive, batch: FrameBatch) -> None:
        if self._held is not None:
            self._held.append((receive, batch))
            return
        for _ in range(self._times):
            self.carried += 1
            self._loop.call_soon(receive, batch)


class Sockets:
    """Two ends as over sockets, with the code of those ends; only the sockets are not there."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.news: list[tuple[str, News]] = []
        self.carried = 0
        self.times = 1
        now = loop.time()
        relay = Conversation("relay", "run-r", now, calls=False)
        worker = Conversation("worker", "run-w", now, calls=True)
        self._relay = _End(loop, relay, self, lambda news: self.news.append(("relay", news)))
        self._worker = _End(loop, worker, self, lambda news: self.news.append(("worker", news)))
        self._relay.other, self._worker.other = self._worker, self._relay
        self.relay_end: LinkEnd = self._relay.end
        self.worker_end: LinkEnd = self._worker.end
        self._worker.begin()

    def cut(self) -> None:
        """Lose every packet."""
        self.times = 0

    def mend(self) -> None:
        """Carry every packet twice."""
        self.times = 2


class _End:
    """What stands for the links' thread of one end: writes what is due, on the loop."""

    def __init__(
        self, loop: VirtualLoop, conversation: Conversation, wire: Sockets, hear: Callable[[News], None]
    ) -> None:
        self._loop = loop
        self._wire = wire
        self._knows_where = False  # a relay cannot write before it was called
        self.end = SocketEnd(conversation, cast(IoThread, self), hear)
        self.other: Any = None
        self._timer: asyncio.Handle | None = None

    def begin(self) -> None:
        """Speak first."""
        self._knows_where = True
        self.wake()

    def wake(self) -> None:
        """Write soon."""
        if self._knows_where:
            self._at(self._loop.time())

    def run(self, job: Callable[[], None]) -> None:
        """Do a job at once: there is no other thread."""
        job()

    def _at(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(due, self._write)

    def _write(self) -> None:
        for packet in self.end.to_write(self._loop.time()):
            data = encode_packet(packet, self.end.conversation.version)
            self._wire.carried += 1
            for _ in range(self._wire.times):
                self._loop.call_soon(self.other.arrive, data)
        # Not before the next millisecond, like the links' thread.
        self._at(max(self.end.conversation.due_at(), self._loop.time() + 0.001))

    def arrive(self, data: bytes) -> None:
        """Take what the other end wrote."""
        self._knows_where = True
        self.end.take(decode_packet(data), self._loop.time())
        self.wake()
