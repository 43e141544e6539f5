"""A link end whose batches and news arrive on an asyncio loop, in the order in which they came."""

import asyncio

from showcaller.transport.links.memory import FrameBatch, LinkEnd, Receive


class OnLoop:
    """A ``LinkEnd`` that hands over to a loop; what comes after the loop's end is dropped."""

    def __init__(self, end: LinkEnd, loop: asyncio.AbstractEventLoop) -> None:
        self._end = end
        self._loop = loop

    def connect(self, receive: Receive) -> None:
        """Say who gets the batches, on the loop's thread."""

        def hand_over(batch: FrameBatch) -> None:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(receive, batch)

        self._end.connect(hand_over)

    def send(self, batch: FrameBatch, *, soon: bool = True) -> None:
        """Carry a batch to the other end."""
        self._end.send(batch, soon=soon)

    def renew(self) -> None:
        """Send again, to a peer that was replaced."""
        self._end.renew()

    def close(self) -> None:
        """Stop receiving and sending."""
        self._end.close()
