"""What two ends of a socket link owe each other, without sockets: every batch once, in order, or a report.

Pure but for its own state: packets and the time (monotonic seconds) go in; packets to write, batches to
deliver and news come out. Both ends run the same code; only one of them, the *caller*, speaks first.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from showcaller.transport.wire.packets import FRAMES_LIMIT, Ack, BatchPacket, Hello, Packet, Refused
from showcaller.transport.wire.protocol import SPOKEN, agreed, nothing_in_common

HEARTBEAT: Final = 2.0
"""Seconds after which an end that has nothing to say gives a sign of life."""
SILENCE: Final = 3.5
"""Heartbeats without a sign after which a peer counts as away."""
CALL_AGAIN: Final = 10.0
"""Seconds after which one that was refused calls again: the peer may have been restarted, or told better."""
WINDOW: Final = 64
"""Batches under way to the peer at once; fewer than the sockets take, so that they drop none."""
AGAIN_AFTER: Final = 1.0
"""Seconds without progress after which what is under way is written again to a peer that is there."""
ACK_AFTER: Final = 0.02
"""Seconds that an acknowledgement waits for a batch that takes it along; each packet wakes two processes."""
ACK_AT: Final = WINDOW // 4
"""Batches without an acknowledgement for which one goes by itself at once."""
BATCH_BYTES: Final = 1024 * 1024
"""Bytes of frames that are put into one batch; a larger frame has one for itself."""

News = Literal["met", "changed", "away", "back", "refused"]
"""``met``: the peer is there for the first time; ``changed``: another run of it, which knows of nothing."""


class Taken(NamedTuple):
    """What came of a packet: frames to deliver, in order, and news that come before them."""

    frames: Sequence[bytes] = ()
    news: News | None = None


class Conversation:
    """One end's side of a link to one peer. Not thread-safe.

    ``run`` names this run of this end, and must be new each time; ``token`` is what the peer asks for;
    ``spoken`` are the versions of the protocol that this end speaks, and ``version`` is the one in use.
    """

    def __init__(
        self,
        peer: str,
        run: str,
        now: float,
        *,
        calls: bool,
        token: str = "",
        spoken: Sequence[int] = SPOKEN,
    ) -> None:
        self._peer = peer
        self._run = run
        self._calls = calls
        self._token = token
        self._spoken = tuple(spoken)
        self.version = self._spoken[0]
        self._their_run = ""
        self.refused: str | None = None
        self.present = False
        self._heard = now
        self._spoke = now - HEARTBEAT
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._replies: list[Packet] = []
        self._forget()

    def _forget(self) -> None:
        self._under_way: deque[BatchPacket] = deque()  # not acknowledged, oldest first
        self._under_way_bytes = 0
        self._written = 0  # of them, how many the peer may have
        self._last = 0
        self._received = 0
        self._unanswered = 0  # batches that have come since the last acknowledgement
        self._ack_due = float("inf")
        self._asked_again = False
        self._progress = self._heard

    # -- sending -----------------------------------------------------------------------------------

    def send(self, frames: Sequence[bytes]) -> None:
        """Take frames to be carried, in order."""
        self._waiting.extend(frames)
        self._waiting_bytes += sum(map(len, frames))

    @property
    def backlog(self) -> int:
        """Bytes that the peer has not acknowledged, or that wait to be written."""
        return self._waiting_bytes + self._under_way_bytes

    @property
    def settled(self) -> bool:
        """Whether the peer has acknowledged everything."""
        return not self._waiting and not self._under_way

    def to_write(self, now: float) -> list[Packet]:
        """Give the packets that are due now; they count as written."""
        if self.refused is not None or not self._their_run:
            return self._taken_replies() + self._call(now)
        packets = self._taken_replies()
        if self._may_be_lost and now - self._progress >= AGAIN_AFTER:
            self._written, self._progress = 0, now
        self._make_batches()
        while self._written < len(self._under_way):
            packets.append(self._under_way[self._written]._replace(ack=self._received))
            self._written += 1
        if not packets and (now >= self._ack_due or now - self._spoke >= HEARTBEAT):
            packets.append(Ack(self._run, self._their_run, self._received, self._asked_again))
        if packets:
            self._spoke, self._asked_again = now, False
            self._unanswered, self._ack_due = 0, float("inf")
        return packets

    @property
    def _may_be_lost(self) -> bool:
        """Whether what is under way is to be written again: to one that gives no sign, once it does."""
        return self.present and bool(self._under_way)

    def _taken_replies(self) -> list[Packet]:
        replies, self._replies = self._replies, []
        return replies

    def _call(self, now: float) -> list[Packet]:
        if not self._calls or now - self._spoke < self._call_every:
            return []
        self._spoke = now
        return [self._hello()]

    @property
    def _call_every(self) -> float:
        return HEARTBEAT if self.refused is None else CALL_AGAIN

    def _hello(self) -> Hello:
        return Hello(self._peer, self._run, self._their_run, self._token, self._spoken)

    def _make_batches(self) -> None:
        while self._waiting and len(self._under_way) < WINDOW:
            if not self._under_way:
                self._progress = max(self._progress, self._spoke)
            frames: list[bytes] = []
            size = 0
            while self._waiting and len(frames) < FRAMES_LIMIT:
                if frames and size + len(self._waiting[0]) > BATCH_BYTES:
                    break
                frames.append(self._waiting.popleft())
                size += len(frames[-1])
            self._waiting_bytes -= size
            self._under_way_bytes += size
            self._last += 1
            self._under_way.append(BatchPacket(self._run, self._their_run, self._last, 0, tuple(frames)))

    # -- receiving ---------------------------------------------------------------------------------

    def receive(self, packet: Packet, now: float) -> Taken:
        """Take what the peer wrote; what is meant for another run, or came before, changes nothing."""
        match packet:
            case Hello():
                return self._greeted(packet, now)
            case Refused(why):
                return self._refuse(why)
            case BatchPacket(run, to) | Ack(run, to):
                if (run, to) != (self._their_run, self._run):
                    return Taken()
        news = self._heard_of(now)
        self._acknowledged(packet.ack, now)
        if isinstance(packet, Ack):
            if packet.again:
                self._written = 0
            return Taken(news=news)
        if packet.number != self._received + 1:
            self._asked_again = packet.number > self._received
            self._ack_due = now  # the peer does not know what has come, or is to write again
            return Taken(news=news)
        self._received += 1
        self._unanswered += 1
        self._ack_due = now if self._unanswered >= ACK_AT else min(self._ack_due, now + ACK_AFTER)
        return Taken(packet.frames, news)

    def _greeted(self, hello: Hello, now: float) -> Taken:
        if hello.run == self._run or (self._calls and hello.to != self._run):
            return Taken()  # our own, come back, or meant for an earlier run of this end
        version = agreed(self._spoken, hello.versions)
        if version is None:
            return self._cannot_speak_with(hello)
        self.version = version
        is_new = hello.run != self._their_run
        known_before = bool(self._their_run)
        self.refused = None
        if is_new:
            self._their_run = hello.run
        # The one that is called greets for as long as it has not heard who calls: that may have been lost.
        if (hello.to != self._run or self._calls) and self._hello() not in self._replies:
            self._replies.append(self._hello())
        if not is_new:
            return Taken(news=self._heard_of(now))
        self.present, self._heard = True, now
        if known_before:
            self._waiting.clear()
            self._waiting_bytes = 0
        self._forget()
        return Taken(news="changed" if known_before else "met")

    def _cannot_speak_with(self, hello: Hello) -> Taken:
        """Refuse a peer over its versions; the one that is called says so, in words for the peer."""
        if not self._calls:
            self._replies = [Refused(nothing_in_common(hello.versions, self._spoken))]
        return self._refuse(nothing_in_common(self._spoken, hello.versions))

    def _refuse(self, why: str) -> Taken:
        is_news = self.refused is None
        self.refused, self.present = why, False
        return Taken(news="refused" if is_news else None)

    def _heard_of(self, now: float) -> News | None:
        self._heard = now
        if self.present:
            return None
        self.present = True
        return "back"

    def _acknowledged(self, number: int, now: float) -> None:
        while self._under_way and self._under_way[0].number <= number:
            self._under_way_bytes -= sum(map(len, self._under_way.popleft().frames))
            self._written = max(0, self._written - 1)
            self._progress = now

    # -- time --------------------------------------------------------------------------------------

    def news_at(self, now: float) -> News | None:
        """Tell once when the peer has given no sign for too long."""
        if self.present and now - self._heard > HEARTBEAT * SILENCE:
            self.present = False
            return "away"
        return None

    def due_at(self) -> float:
        """Say when to look again, if nothing comes before."""
        if self.refused is not None:
            return self._spoke + CALL_AGAIN if self._calls else float("inf")
        due = min(self._spoke + HEARTBEAT, self._ack_due)
        if self._may_be_lost:
            due = min(due, self._progress + AGAIN_AFTER)
        if self.present:
            due = min(due, self._heard + HEARTBEAT * SILENCE + 0.001)
        return due
