"""What two ends owe each other, over a wire that loses, doubles and delays, in virtual time."""

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showcaller.transport.links.conversation import (
    ACK_AFTER,
    ACK_AT,
    AGAIN_AFTER,
    CALL_AGAIN,
    HEARTBEAT,
    SILENCE,
    WINDOW,
    Conversation,
)
from showcaller.transport.wire.packets import (
    Ack,
    BatchPacket,
    Hello,
    Packet,
    Refused,
    decode_packet,
    encode_packet,
)
from showcaller.transport.wire.protocol import SPOKEN

Spoil = Callable[[Packet], list[Packet]]


def whole(packet: Packet) -> list[Packet]:
    return [packet]


class Pair:
    """A caller and the one called, and what each was given."""

    def __init__(
        self, spoil: Spoil = whole, caller: Sequence[int] = SPOKEN, called: Sequence[int] = SPOKEN
    ) -> None:
        self.now = 0.0
        self.spoil = spoil
        self.spoken = {"worker": caller, "relay": called}
        self.caller = Conversation("worker", "run-w", 0.0, calls=True, token="secret", spoken=caller)
        self.called = Conversation("relay", "run-r", 0.0, calls=False, spoken=called)
        self.at_caller: list[bytes] = []
        self.at_called: list[bytes] = []
        self.news: list[tuple[str, str]] = []

    def turn(self) -> bool:
        """Let both write what is due; False when nothing was."""
        moved = self._carry(self.caller, self.called, self.at_called, "relay")
        return self._carry(self.called, self.caller, self.at_caller, "worker") or moved

    def _carry(self, source: Conversation, target: Conversation, given: list[bytes], who: str) -> bool:
        packets = source.to_write(self.now)
        for packet in packets:
            for arrived in self.spoil(packet):
                data = encode_packet(arrived, source.version)
                taken = target.receive(decode_packet(data, self.spoken[who]), self.now)
                given.extend(taken.frames)
                if taken.news is not None:
                    self.news.append((who, taken.news))
        return bool(packets)

    def settle(self) -> None:
        while self.turn():
            pass

    def advance(self, seconds: float) -> None:
        self.now += seconds
        for who, end in (("worker", self.caller), ("relay", self.called)):
            news = end.news_at(self.now)
            if news is not None:
                self.news.append((who, news))
        self.settle()


def frames(first: int, last: int) -> list[bytes]:
    return [b"frame %d" % number for number in range(first, last + 1)]


def test_two_ends_meet_and_carry_frames_both_ways_in_order() -> None:
    pair = Pair()
    pair.caller.send(frames(1, 3))
    pair.called.send(frames(4, 5))
    pair.settle()
    assert pair.at_called == frames(1, 3)
    assert pair.at_caller == frames(4, 5)
    assert pair.news == [("relay", "met"), ("worker", "met")]


def test_what_is_acknowledged_is_kept_no_longer() -> None:
    pair = Pair()
    pair.caller.send([b"x" * 1000] * 10)
    assert pair.caller.backlog == 10_000
    pair.settle()
    pair.advance(HEARTBEAT)
    assert pair.caller.backlog == 0
    assert pair.caller.settled


def met() -> Pair:
    """Give two ends that have nothing to say."""
    pair = Pair()
    pair.settle()
    return pair


def carried(pair: Pair, batch: list[bytes]) -> None:
    """Carry a batch from the caller to the one called, who writes nothing yet."""
    pair.caller.send(batch)
    pair._carry(pair.caller, pair.called, pair.at_called, "relay")


def test_an_acknowledgement_goes_with_what_is_written_soon() -> None:
    pair = met()
    carried(pair, [b"a prompt's end"])
    assert pair.called.to_write(pair.now) == []
    pair.called.send([b"the next prompt"])
    (packet,) = pair.called.to_write(pair.now + ACK_AFTER / 2)
    assert isinstance(packet, BatchPacket)
    assert packet.ack == 1
    assert pair.called.to_write(pair.now + ACK_AFTER) == []


def test_an_acknowledgement_goes_by_itself_when_nothing_else_is_written() -> None:
    pair = met()
    carried(pair, [b"a prompt's end"])
    assert pair.called.due_at() == pair.now + ACK_AFTER
    carried(pair, [b"another one"])
    assert pair.called.due_at() == pair.now + ACK_AFTER
    assert pair.called.to_write(pair.now + ACK_AFTER) == [Ack("run-r", "run-w", 2, again=False)]
    assert pair.called.due_at() > pair.now + 1


def test_an_acknowledgement_of_many_batches_does_not_wait() -> None:
    pair = met()
    for number in range(ACK_AT):
        assert pair.called.to_write(pair.now) == []
        carried(pair, [b"%d" % number])
    assert pair.called.to_write(pair.now) == [Ack("run-r", "run-w", ACK_AT, again=False)]


@pytest.mark.parametrize("again", [False, True])
def test_who_writes_a_batch_twice_or_misses_one_is_told_at_once(again: bool) -> None:
    pair = met()
    carried(pair, [b"a prompt's end"])
    pair.called.to_write(pair.now + ACK_AFTER)
    number = 3 if again else 1
    pair.called.receive(BatchPacket("run-w", "run-r", number, 0, (b"x",)), pair.now)
    assert pair.called.to_write(pair.now) == [Ack("run-r", "run-w", 1, again=again)]


def test_no_more_than_a_window_is_under_way_to_a_peer_that_does_not_acknowledge() -> None:
    pair = Pair()
    pair.settle()
    pair.caller.send([b"x" * 2_000_000] * (WINDOW * 3))
    written = pair.caller.to_write(pair.now)
    assert len([packet for packet in written if isinstance(packet, BatchPacket)]) == WINDOW
    assert pair.caller.to_write(pair.now) == []


def test_what_was_lost_is_written_again_and_what_comes_twice_is_given_once() -> None:
    lost: list[Packet] = []

    def first_batch_is_lost(packet: Packet) -> list[Packet]:
        if isinstance(packet, BatchPacket) and not lost:
            lost.append(packet)
            return []
        return [packet, packet]

    pair = Pair(first_batch_is_lost)
    pair.settle()
    pair.caller.send(frames(1, 1))
    pair.settle()
    pair.caller.send(frames(2, 2))
    pair.settle()
    assert lost
    assert pair.at_called == frames(1, 2), "the gap was seen at once, without waiting"


def test_the_last_batch_that_was_lost_is_written_again_when_no_acknowledgement_comes() -> None:
    away: list[bool] = []
    pair = Pair(lambda packet: [] if away and isinstance(packet, BatchPacket) else [packet])
    pair.settle()
    away.append(True)
    pair.caller.send(frames(1, 1))
    pair.settle()
    away.clear()
    pair.advance(AGAIN_AFTER)
    assert pair.at_called == frames(1, 1)


def test_an_idle_link_says_a_word_now_and_then_and_silence_is_noticed_once() -> None:
    cut: list[bool] = []
    pair = Pair(lambda packet: [] if cut else [packet])
    pair.settle()
    for _ in range(10):
        pair.advance(HEARTBEAT)
    assert [news for _, news in pair.news] == ["met", "met"]
    cut.append(True)
    for _ in range(10):
        pair.advance(HEARTBEAT)
    assert pair.news[2:] == [("worker", "away"), ("relay", "away")]
    assert not pair.called.present
    cut.clear()
    pair.advance(HEARTBEAT)
    assert sorted(pair.news[4:]) == [("relay", "back"), ("worker", "back")]


def test_another_run_of_the_peer_gets_nothing_that_was_meant_for_the_one_before() -> None:
    pair = Pair()
    pair.settle()
    pair.spoil = lambda _: []
    pair.caller.send(frames(1, 2))
    pair.settle()
    pair.called, pair.spoil = Conversation("relay", "run-2", pair.now, calls=False), whole
    # The new run knows nobody: whoever owns its socket answers a stranger's packet with its name.
    pair.advance(AGAIN_AFTER)
    hello = Hello("relay", "run-2", "run-w", "", SPOKEN)
    assert pair.caller.receive(hello, pair.now).news == "changed"
    pair.caller.send(frames(3, 3))
    pair.settle()
    assert pair.at_called == frames(3, 3)


def test_a_greeting_that_was_lost_is_given_again_as_long_as_the_one_called_greets() -> None:
    """Whoever is called by a stranger greets them, and hears who it is only by their answer."""
    pair = met()
    greeting = Hello("relay", "run-2", "run-w", "", SPOKEN)
    assert pair.caller.receive(greeting, 1.0).news == "changed"
    (lost,) = [packet for packet in pair.caller.to_write(1.0) if isinstance(packet, Hello)]
    for seconds in (2.0, 3.0):
        assert [pair.caller.receive(greeting, seconds).news for _ in range(3)] == [None] * 3
        assert [packet for packet in pair.caller.to_write(seconds) if isinstance(packet, Hello)] == [lost]


def test_a_late_packet_of_an_earlier_run_changes_nothing() -> None:
    pair = Pair()
    pair.settle()
    pair.caller.send(frames(1, 1))
    for stale in (
        BatchPacket("run-old", "run-r", 1, 0, (b"stale",)),
        BatchPacket("run-w", "run-old", 1, 0, (b"stale",)),
        Ack("run-old", "run-r", 1, again=False),
    ):
        taken = pair.called.receive(stale, pair.now)
        assert (taken.frames, taken.news) == ((), None)
    pair.settle()
    assert pair.at_called == frames(1, 1)


def test_a_peer_with_no_version_in_common_is_refused_in_words() -> None:
    called = Conversation("relay", "run-r", 0.0, calls=False)
    assert called.receive(Hello("worker", "run-w", "", "", (99,)), 0.0).news == "refused"
    assert called.refused is not None
    assert "99" in called.refused
    (refused,) = called.to_write(0.0)
    assert isinstance(refused, Refused)
    ours = " and ".join(str(version) for version in SPOKEN)
    assert f"speaks versions {ours} of the worker protocol, and this program version 99" in refused.why
    assert called.to_write(HEARTBEAT * 10) == []


@pytest.mark.parametrize(
    ("worker", "relay", "used"),
    [((1,), (2, 1), 1), ((2, 1), (2, 1), 2), ((3, 2), (2, 1), 2), ((2, 1), (3, 2), 2)],
    ids=["worker of before", "of now", "worker of after", "relay of after"],
)
def test_two_ends_a_version_apart_use_the_older_one(
    worker: Sequence[int], relay: Sequence[int], used: int
) -> None:
    pair = Pair(caller=worker, called=relay)
    pair.caller.send(frames(1, 2))
    pair.called.send(frames(3, 4))
    pair.settle()
    assert (pair.at_called, pair.at_caller) == (frames(1, 2), frames(3, 4))
    assert (pair.caller.version, pair.called.version) == (used, used)


@pytest.mark.parametrize(
    ("worker", "relay", "told_worker", "told_relay"),
    [((4, 3), (2, 1), "is too old", "upgrade this one"), ((1,), (3, 2), "upgrade this one", "is too old")],
    ids=["worker of the future", "worker of the past"],
)
def test_two_ends_further_apart_are_both_told_and_nothing_is_taken(
    worker: Sequence[int], relay: Sequence[int], told_worker: str, told_relay: str
) -> None:
    pair = Pair(caller=worker, called=relay)
    pair.caller.send(frames(1, 1))
    pair.settle()
    assert pair.news == [("relay", "refused"), ("worker", "refused")]
    assert told_worker in str(pair.caller.refused)
    assert told_relay in str(pair.called.refused)
    pair.advance(CALL_AGAIN)
    assert (pair.at_called, len(pair.news)) == ([], 2)


def test_a_peer_that_comes_back_with_a_version_in_common_is_taken() -> None:
    pair = Pair(caller=(3,), called=(2, 1))
    pair.settle()
    assert pair.called.refused is not None
    pair.caller, pair.spoken["worker"] = Conversation("worker", "run-x", 0.0, calls=True, spoken=(1,)), (1,)
    pair.caller.send(frames(1, 1))
    pair.settle()
    assert pair.at_called == frames(1, 1)
    assert pair.called.refused is None


def test_a_caller_that_is_refused_says_so_once_and_calls_again_later() -> None:
    caller = Conversation("worker", "run-w", 0.0, calls=True)
    assert caller.to_write(0.0)
    assert caller.receive(Refused("its token is unknown"), 0.0).news == "refused"
    assert caller.to_write(HEARTBEAT) == []
    assert caller.due_at() == CALL_AGAIN
    assert len(caller.to_write(CALL_AGAIN)) == 1
    assert caller.receive(Refused("still unknown"), CALL_AGAIN).news is None
    assert caller.refused == "still unknown"
    assert caller.receive(Hello("relay", "run-r", "run-w", "", SPOKEN), CALL_AGAIN).news == "met"
    caller.send(frames(1, 1))
    assert any(isinstance(packet, BatchPacket) for packet in caller.to_write(CALL_AGAIN))


@pytest.mark.parametrize("ack", [0, 5, 2**62])
def test_an_acknowledgement_of_what_was_never_written_harms_nobody(ack: int) -> None:
    pair = Pair()
    pair.settle()
    pair.called.receive(Ack("run-w", "run-r", ack, again=True), pair.now)
    pair.called.send(frames(1, 2))
    pair.settle()
    assert pair.at_caller == frames(1, 2)


@settings(max_examples=200, deadline=None)
@given(st.integers(min_value=0, max_value=2**32))
def test_over_any_wire_every_frame_comes_once_and_in_order(seed: int) -> None:
    chance = random.Random(seed)
    held_back: dict[str, list[Packet]] = {"run-w": [], "run-r": []}

    def spoil(packet: Packet) -> list[Packet]:
        assert not isinstance(packet, Refused)
        held = held_back[packet.run]
        match chance.randrange(8):
            case 0:
                return []
            case 1:
                return [packet, packet]
            case 2:
                held.append(packet)
                return []
            case 3:
                late = [held.pop(chance.randrange(len(held)))] if held else []
                return [packet, *late]
            case _:
                return [packet]

    pair = Pair(spoil)
    sent_up, sent_down = 0, 0
    for _ in range(60):
        up, down = chance.randrange(3), chance.randrange(3)
        pair.caller.send(frames(sent_up + 1, sent_up + up))
        pair.called.send(frames(sent_down + 1, sent_down + down))
        sent_up, sent_down = sent_up + up, sent_down + down
        pair.turn()
        pair.now += chance.random() * HEARTBEAT
    pair.spoil = whole
    for _ in range(20):
        pair.advance(HEARTBEAT)
    assert pair.at_called == frames(1, sent_up)
    assert pair.at_caller == frames(1, sent_down)
    assert pair.caller.settled
    assert pair.called.settled


def test_when_to_look_again_is_never_later_than_the_next_thing_due() -> None:
    pair = Pair()
    pair.settle()
    assert pair.caller.due_at() <= pair.now + HEARTBEAT
    pair.caller.send(frames(1, 1))
    pair.caller.to_write(pair.now)
    assert pair.caller.due_at() <= pair.now + AGAIN_AFTER
    pair.now = HEARTBEAT * (SILENCE + 1)
    assert pair.called.due_at() <= pair.now
