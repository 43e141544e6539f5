"""Workers that were started and have not called yet: what is handed to them can be taken back."""

from pathlib import Path

import pytest

from showcaller.actors.contract.worker import (
    KillAgent,
    SteerTurn,
    StopTurn,
    ToWorkerMessage,
    TurnEnded,
    TurnReturned,
    TurnSteered,
)
from showcaller.transport.placement.assignments import taken_back
from showcaller.transport.placement.pool import WorkerPool
from tests.transport.placement.desk import Desk, FakeWorker, run

ORDERS: list[StopTurn | KillAgent] = [StopTurn(session="ses_a", turn="msg_a"), KillAgent(session="ses_a")]


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.placement.silent = True
    return desk


def stopped(session: str, turn: str) -> TurnEnded:
    return TurnEnded(session=session, turn=turn, outcome="stopped")


def test_turns_are_handed_over_when_the_worker_has_called(desk: Desk) -> None:
    pool = desk.open()
    pool.send([run("ses_a", "msg_a")])
    worker = desk.placement.started[0]
    assert worker.link.sent == []
    desk.placement.calls[0]()
    pool.send([run("ses_b", "msg_b")])
    assert worker.link.sent == [run("ses_a", "msg_a"), run("ses_b", "msg_b")]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.kind)
def test_a_turn_at_a_worker_that_never_called_can_be_stopped_and_is_not_run_then(
    desk: Desk, order: StopTurn | KillAgent
) -> None:
    pool = desk.open()
    pool.send([run("ses_a", "msg_a"), run("ses_b", "msg_b")])
    pool.send([order])
    assert desk.came == [stopped("ses_a", "msg_a")]
    desk.placement.calls[0]()
    assert desk.placement.started[0].link.sent == [run("ses_b", "msg_b")]


def test_a_turn_that_was_taken_back_is_not_returned_at_the_death_of_the_worker(desk: Desk) -> None:
    pool = desk.open()
    pool.send([run("ses_a", "msg_a"), run("ses_b", "msg_b"), StopTurn(session="ses_a", turn="msg_a")])
    desk.placement.died("wrk_000000000001")
    assert desk.came == [stopped("ses_a", "msg_a"), TurnReturned(session="ses_b", turn="msg_b")]


def test_a_turn_can_be_stopped_while_no_worker_can_be_started(desk: Desk) -> None:
    desk.placement.failing = 1
    pool = desk.open()
    pool.send([run("ses_a", "msg_a"), StopTurn(session="ses_a", turn="msg_a")])
    assert desk.came == [stopped("ses_a", "msg_a")]


def test_a_worker_of_an_earlier_relay_gets_orders_though_it_has_not_called_this_one(
    desk: Desk, tmp_path: Path
) -> None:
    found = FakeWorker(tmp_path / "wrk_00000000000a")
    desk.placement.alive.append(found)
    pool: WorkerPool = desk.open()
    pool.ask_again(run("ses_a", "msg_a", found.name))
    pool.send([StopTurn(session="ses_a", turn="msg_a")])
    assert desk.came == [], "it may run the turn, and only it can tell how that ended"
    assert [message.kind for message in found.link.sent] == ["run_turn", "stop_turn"]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.kind)
def test_a_message_that_was_to_join_a_turn_taken_back_is_refused_before_its_end(
    order: StopTurn | KillAgent,
) -> None:
    steer = SteerTurn(session="ses_a", turn="msg_a", message="msg_s", text="and that")
    other = SteerTurn(session="ses_b", turn="msg_b", message="msg_t", text="and this")
    waiting: list[ToWorkerMessage] = [run("ses_a", "msg_a"), steer, other]
    refused = TurnSteered(session="ses_a", turn="msg_a", message="msg_s", accepted=False)
    assert taken_back(order, waiting) == ([other], [refused, stopped("ses_a", "msg_a")])
