"""The two ends of the link between a relay and a worker, over a memory link that a test can spoil."""

from collections.abc import Callable, Sequence

import pytest

from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    RunTurn,
    StopTurn,
    ToWorkerMessage,
    TurnEnded,
    TurnOutput,
    TurnStored,
    TurnTaken,
)
from showcaller.actors.relay.ports import WorkerPort
from showcaller.transport.links.memory import FrameBatch, MemoryLink, Receive, straight
from showcaller.transport.links.numbered import Fault, LinkClosedError
from showcaller.transport.links.ordering import Gap
from showcaller.transport.links.relay import RelayLink
from showcaller.transport.links.workers import WorkerLink, nothing_more
from showcaller.transport.wire.frames import Frame, FrameMalformedError, encode
from showcaller.transport.wire.worker_messages import MessageRefusedError, UnknownKindError


class Held:
    """A carrier that keeps batches until the test lets them go."""

    def __init__(self) -> None:
        self.batches: list[tuple[Receive, FrameBatch]] = []

    def __call__(self, receive: Receive, batch: FrameBatch) -> None:
        self.batches.append((receive, batch))

    def let_go(self, *which: int) -> None:
        for index in which:
            receive, batch = self.batches[index]
            receive(batch)


class Ends:
    """Both ends, and what each got."""

    def __init__(
        self,
        to_worker: Callable[[Receive, FrameBatch], None] = straight,
        to_relay: Callable[[Receive, FrameBatch], None] = straight,
        end_worker: Callable[[], None] = nothing_more,
    ) -> None:
        self.link = MemoryLink(to_worker, to_relay)
        self.at_relay: list[FromWorkerMessage] = []
        self.at_worker: list[ToWorkerMessage] = []
        self.relay_faults: list[Fault] = []
        self.worker_faults: list[Fault] = []
        self.relay = WorkerLink(self.link.relay_end, end_worker, self.relay_faults.append)
        self.worker = RelayLink(self.link.worker_end, self.worker_faults.append)
        self.relay.connect(self.at_relay.extend)
        self.worker.connect(self.at_worker.extend)


def run(turn: str, item: object = None) -> RunTurn:
    return RunTurn(session="ses_a", turn=turn, provider="command", text="true", item=item)


def output(turn: str, text: str) -> TurnOutput:
    return TurnOutput(session="ses_a", turn=turn, text=text)


class Hurries:
    """A link end that notes of each batch whether it is to go soon."""

    def __init__(self) -> None:
        self.soon: list[bool] = []

    def connect(self, receive: Receive) -> None:
        """Receive nothing."""

    def send(self, batch: FrameBatch, *, soon: bool = True) -> None:
        self.soon.append(soon)

    def renew(self) -> None:
        """Forget nothing."""

    def close(self) -> None:
        """Close nothing."""


def test_only_what_somebody_waits_for_is_sent_soon() -> None:
    end = Hurries()
    relay, worker = WorkerLink(end), RelayLink(end)
    worker.send([TurnTaken(session="ses_a", turn="t1")])
    worker.send([TurnTaken(session="ses_a", turn="t1"), output("t1", "x")])
    relay.send([TurnStored(session="ses_a", turn="t1")])
    relay.send([TurnStored(session="ses_a", turn="t1"), run("t2")])
    assert end.soon == [False, True, False, True]


def test_a_worker_link_is_a_worker_port() -> None:
    port: WorkerPort = Ends().relay
    port.send([])


def test_messages_arrive_in_order_and_in_one_batch_per_send() -> None:
    batches: list[Sequence[ToWorkerMessage]] = []
    link = MemoryLink()
    relay, worker = WorkerLink(link.relay_end), RelayLink(link.worker_end)
    relay.connect(lambda messages: None)
    worker.connect(batches.append)
    relay.send([run("t1"), StopTurn(session="ses_a", turn="t1")])
    relay.send([run("t2")])
    assert batches == [[run("t1"), StopTurn(session="ses_a", turn="t1")], [run("t2")]]


def test_doubled_and_reordered_batches_are_put_right_and_the_gap_is_reported() -> None:
    held = Held()
    ends = Ends(to_relay=held)
    for text in "abc":
        ends.worker.send([output("t", text)])
    held.let_go(2, 0, 0, 1, 2, 1)
    assert [message for message in ends.at_relay if isinstance(message, TurnOutput)] == [
        output("t", text) for text in "abc"
    ]
    assert ends.relay_faults == [Gap(1, 2)]


def test_after_a_lost_batch_nothing_overtakes_it() -> None:
    held = Held()
    ends = Ends(to_worker=held)
    ends.relay.send([run("t1")])
    ends.relay.send([run("t2")])
    held.let_go(1)
    assert ends.at_worker == []
    assert ends.worker_faults == [Gap(1, 1)]
    held.let_go(0)
    assert ends.at_worker == [run("t1"), run("t2")]


def test_garbage_costs_nobody_else_a_message() -> None:
    ends = Ends()
    ends.relay.send([run("t1")])
    ends.link.relay_end.send([b"\xc1garbage", b""])
    ends.relay.send([run("t2")])
    assert ends.at_worker == [run("t1"), run("t2")]
    assert [type(fault) for fault in ends.worker_faults] == [FrameMalformedError, FrameMalformedError]


def test_an_unknown_kind_is_reported_and_the_next_message_is_taken() -> None:
    ends = Ends()
    ends.link.relay_end.send([encode(Frame("dance", 1, "ses_a", {}))])
    ends.link.relay_end.send([encode(Frame("stop_turn", 2, "ses_a", {"turn": "t"}))])
    assert ends.at_worker == [StopTurn(session="ses_a", turn="t")]
    assert [type(fault) for fault in ends.worker_faults] == [UnknownKindError]


def test_a_turn_that_the_worker_cannot_read_is_answered_with_a_failed_end() -> None:
    ends = Ends()
    ends.link.relay_end.send([encode(Frame("run_turn", 1, "ses_a", {"turn": "t", "text": 5}))])
    [end] = ends.at_relay
    assert isinstance(end, TurnEnded)
    assert (end.session, end.turn, end.outcome) == ("ses_a", "t", "failed")
    assert "could not read this turn" in str(end.error_text)
    assert [type(fault) for fault in ends.worker_faults] == [MessageRefusedError]


@pytest.mark.parametrize(
    ("item", "reason"),
    [(float("nan"), "NaN"), (2**70, "64 bits"), ("\ud800", "msgpack"), ("x" * 2**24, "limit")],
)
def test_a_turn_that_may_not_cross_gets_its_end_at_once_and_costs_no_other(item: object, reason: str) -> None:
    ends = Ends()
    ends.relay.send([run("t1"), run("bad", item), run("t2")])
    assert ends.at_worker == [run("t1"), run("t2")]
    [end] = ends.at_relay
    assert isinstance(end, TurnEnded)
    assert (end.turn, end.outcome) == ("bad", "failed")
    assert reason in str(end.error_text)
    assert ends.worker_faults == []


def test_an_end_that_may_not_cross_becomes_a_failed_one() -> None:
    ends = Ends()
    ends.worker.send([TurnEnded(session="ses_a", turn="t", outcome="done", reply="x" * 2**24)])
    [end] = ends.at_relay
    assert isinstance(end, TurnEnded)
    assert (end.turn, end.outcome) == ("t", "failed")
    assert "larger than the limit" in str(end.error_text)


def test_after_close_a_turn_is_interrupted_and_nothing_is_carried() -> None:
    ends = Ends()
    ends.relay.close()
    ends.relay.close()
    ends.relay.send([run("t"), StopTurn(session="ses_a", turn="t")])
    ends.worker.send([TurnTaken(session="ses_a", turn="late")])
    [end] = ends.at_relay
    assert isinstance(end, TurnEnded)
    assert (end.turn, end.outcome, end.stop_reason) == ("t", "failed", "interrupted")
    assert ends.at_worker == []
    assert all(isinstance(fault, LinkClosedError) for fault in ends.relay_faults)


def test_close_ends_the_worker_first_and_still_takes_its_last_words() -> None:
    last = TurnEnded(session="ses_a", turn="t", outcome="failed", stop_reason="interrupted")
    ends = Ends(end_worker=lambda: ends.worker.send([last]))
    ends.relay.close()
    assert ends.at_relay == [last]


def test_an_end_is_connected_once_and_before_anything_arrives() -> None:
    link = MemoryLink()
    with pytest.raises(RuntimeError, match="connect both ends first"):
        link.relay_end.send([b""])
    link.worker_end.connect(lambda batch: None)
    with pytest.raises(RuntimeError, match="connected already"):
        link.worker_end.connect(lambda batch: None)
