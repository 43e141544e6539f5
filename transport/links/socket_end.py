"""One peer's conversation as a link end: frames from any thread in, frames for one receiver out."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from showcaller.transport.links.conversation import Conversation, News
from showcaller.transport.links.io_thread import IoThread
from showcaller.transport.links.memory import FrameBatch, Receive
from showcaller.transport.wire.packets import Packet

logger = logging.getLogger("showcaller.links")

BACKLOG: Final = 256 * 1024 * 1024
"""Bytes kept for a peer that does not take them; beyond, its link is given up."""


def nobody(_: News) -> None:
    """Hear of no news."""


class SocketEnd:
    """A ``LinkEnd`` over a conversation; ``send``, ``backlog`` and ``close`` are thread-safe.

    ``hear`` gets the peer's news, and what ``connect`` names the frames, both on the links' thread. After
    ``changed`` nothing more is sent until ``renew``.
    """

    def __init__(
        self,
        conversation: Conversation,
        thread: IoThread,
        hear: Callable[[News], None] = nobody,
        forget: Callable[[], None] = lambda: None,
    ) -> None:
        self.conversation = conversation  # the links' thread alone
        self._thread = thread
        self._hear = hear
        self._forget = forget
        self._receive: Receive | None = None
        self._left: deque[FrameBatch] = deque()
        self._early: list[bytes] = []
        self._gate = threading.Lock()
        self._closed = False
        self._stale = False

    def connect(self, receive: Receive) -> None:
        """Say who gets what the peer sends; raises RuntimeError the second time."""
        with self._gate:
            if self._receive is not None:
                raise RuntimeError("this end of the link is connected already: connect it once")
            self._receive = receive
            early, self._early = self._early, []
            if early:
                receive(early)

    def send(self, batch: FrameBatch, *, soon: bool = True) -> None:
        """Leave a batch for the links' thread, which is woken for it if ``soon``; dropped after ``close``."""
        if not self._closed:
            self._left.append(batch)
            if soon:
                self._thread.wake()

    @property
    def owes(self) -> bool:
        """Whether the peer has not acknowledged everything; may be late by the moment of asking."""
        return bool(self._left) or not self.conversation.settled

    def renew(self) -> None:
        """Send again, after ``changed``: what was left before was meant for the peer's run before."""
        self._left.clear()
        self._stale = False

    def close(self) -> None:
        """Neither send nor receive from now on; harmless when repeated."""
        if not self._closed:
            self._closed = True
            self._thread.run(self._forget)

    # -- on the links' thread ----------------------------------------------------------------------

    def take(self, packet: Packet, now: float) -> None:
        """Take what the peer wrote."""
        taken = self.conversation.receive(packet, now)
        if taken.news == "changed":
            self._stale = True
        if taken.news is not None:
            self._tell(taken.news)
        if taken.frames and not self._closed:
            with self._gate:
                if self._receive is None:
                    self._early.extend(taken.frames)
                    return
            self._receive(taken.frames)

    def to_write(self, now: float) -> list[Packet]:
        """Give the packets that are due."""
        while self._left and not self._stale:
            self.conversation.send(self._left.popleft())
        if self.conversation.refused is None and self.conversation.backlog > BACKLOG:
            self.conversation.refused = f"it has left more than {BACKLOG} bytes lying"
            self._tell("refused")
        news = self.conversation.news_at(now)
        if news is not None:
            self._tell(news)
        return self.conversation.to_write(now)

    def _tell(self, news: News) -> None:
        logger.info(
            "A link: its peer is %s%s", news, f", {why}" if (why := self.conversation.refused) else ""
        )
        self._hear(news)
