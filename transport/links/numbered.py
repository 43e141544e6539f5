"""A typed, numbered conversation over a link end: messages in, messages out, faults reported."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, TypeVar

from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    TaskStored,
    ToWorkerMessage,
    TurnStored,
    TurnTaken,
)
from showcaller.transport.links.memory import FrameBatch, LinkEnd
from showcaller.transport.links.ordering import Arrivals, Gap
from showcaller.transport.wire.frames import Frame, WireError, decode, encode
from showcaller.transport.wire.protocol import PROTOCOL
from showcaller.transport.wire.worker_messages import to_frame

Out = TypeVar("Out", bound=ToWorkerMessage | FromWorkerMessage)
In = TypeVar("In", bound=ToWorkerMessage | FromWorkerMessage)
Fault = Gap | WireError

UNHURRIED: Final[frozenset[type]] = frozenset({TurnTaken, TurnStored, TaskStored})
"""What nobody waits for: it goes with the next message that somebody does, so that it wakes no process."""

log = logging.getLogger("showcaller.links")


class LinkClosedError(WireError):
    """The message was not sent, because this end of the link is closed."""


def log_fault(fault: Fault) -> None:
    """Write a gap or a refused frame to the log: what a link does with faults when nobody else wants them."""
    log.warning("a link: %s", fault)


class NumberedLink(Generic[Out, In]):
    """Numbers what goes out and puts in order what comes in. Thread-safe.

    A message that cannot be sent, and a frame that cannot be read, go to ``_unsent`` and ``_unread``, so
    that a subclass can answer whoever would wait for it. ``report`` gets gaps and refused frames and,
    like the receiver of messages, must only hand over: it runs on the thread that brings the batch.
    ``version`` is that of the worker protocol that the other end speaks.
    """

    def __init__(
        self,
        end: LinkEnd,
        read: Callable[[Frame], In],
        report: Callable[[Fault], None] = log_fault,
        version: int = PROTOCOL,
    ) -> None:
        self._end = end
        self._version = version
        self._read = read
        self._report = report
        self._sending = threading.Lock()  # keeps the order of numbers and the order on the link the same
        self._receiving = threading.Lock()
        self._last_number = 0
        self._stopped = False
        self._arrivals = Arrivals()

    def connect(self, deliver: Callable[[Sequence[In]], None]) -> None:
        """Say who gets the other end's messages, in order and each once; called once, before any ``send``."""
        self._deliver = deliver
        self._end.connect(self._arrived)

    def send(self, messages: Sequence[Out]) -> None:
        """Hand messages to the link in one batch, in order; never blocks and raises for no message."""
        soon = any(type(message) not in UNHURRIED for message in messages)
        with self._sending:
            batch, unsent = self._encoded(messages)
            if batch:
                self._end.send(batch, soon=soon)
        for message, why in unsent:
            self._report(why)
            self._unsent(message, why)

    def renew(self) -> None:
        """Begin to count anew in both directions: the other end was replaced by one that knows of nothing.

        What was sent to the one before and has not arrived is lost, and what is sent before this call too.
        To be called where messages are received, between those of the one and of the other.
        """
        with self._sending:
            self._last_number = 0
            self._end.renew()
        with self._receiving:
            self._arrivals = Arrivals()

    def stop_sending(self) -> None:
        """Send nothing from now on; what the other end sends is still received."""
        with self._sending:
            self._stopped = True

    def close(self) -> None:
        """Neither send nor receive from now on; harmless when repeated."""
        self.stop_sending()
        self._end.close()

    def _encoded(self, messages: Sequence[Out]) -> tuple[list[bytes], list[tuple[Out, WireError]]]:
        batch: list[bytes] = []
        unsent: list[tuple[Out, WireError]] = []
        for message in messages:
            try:
                batch.append(self._encode_next(message))
            except WireError as error:
                unsent.append((message, error))
        return batch, unsent

    def _encode_next(self, message: Out) -> bytes:
        if self._stopped:
            raise LinkClosedError("the link to the worker is closed")
        data = encode(to_frame(message, self._last_number + 1, self._version))
        self._last_number += 1
        return data

    def _arrived(self, batch: FrameBatch) -> None:
        with self._receiving:
            messages = [message for data in batch for message in self._messages(data)]
            if messages:
                self._deliver(messages)

    def _messages(self, data: bytes) -> Iterator[In]:
        try:
            frames, gap = self._arrivals.take(decode(data))
        except WireError as error:
            self._report(error)
            return
        if gap is not None:
            self._report(gap)
        for frame in frames:
            try:
                yield self._read(frame)
            except WireError as error:
                self._report(error)
                self._unread(frame, error)

    def _unsent(self, message: Out, why: WireError) -> None:
        """Answer for a message that was not sent; it is reported already."""

    def _unread(self, frame: Frame, why: WireError) -> None:
        """Answer for a frame that was well formed but could not be read; it is reported already."""
