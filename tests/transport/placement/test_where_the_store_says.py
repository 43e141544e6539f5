"""A relay over a pool of workers: a turn is at the worker under whose name its hand-over is stored."""

from pathlib import Path

import pytest

from showcaller.actors.contract.worker import RunTurn
from tests.actors.relay.stage import Stage
from tests.transport.placement.desk import Desk, FakeWorker

WORKERS = 3


def runs_of(desk: Desk) -> list[tuple[str, str]]:
    """Which worker was sent which turn, as often as it was."""
    workers = [*desk.placement.alive, *desk.placement.started]
    return [
        (worker.name, message.turn)
        for worker in {worker.name: worker for worker in workers}.values()
        for message in worker.link.sent
        if isinstance(message, RunTurn)
    ]


def hand_over_beside_a_death(stage: Stage, desk: Desk, dies: FakeWorker) -> str:
    """Have a worker die while a prompt's hand-over is on its way into the store; gives the prompt."""
    stage.store.hold()
    begun = stage.begin("create_session", text="first", wait_seconds=0)
    stage.settle()
    desk.placement.died(dies.name)
    desk.time_passes()
    stage.store.release()
    stage.settle()
    message: str = begun.get()["message_id"]
    return message


@pytest.mark.parametrize("dies", range(WORKERS))
def test_a_turn_runs_once_though_a_worker_dies_before_it_is_sent_and_its_relay_soon_after(
    tmp_path: Path, desk: Desk, dies: int
) -> None:
    pool = desk.open(WORKERS)
    stage = Stage(tmp_path, workers=pool, outliving=pool)
    message = hand_over_beside_a_death(stage, desk, desk.placement.started[dies])
    stored_for = stage.read("message", message=message)["worker"]
    assert runs_of(desk) == [(stored_for, message)]
    stage.drop()
    pool.close()

    following = Desk(tmp_path)
    following.placement.alive = [
        worker for worker in desk.placement.started if worker.name in desk.placement.watched
    ]
    pool = following.open(WORKERS)
    stage = Stage(tmp_path, workers=pool, outliving=pool)
    assert {name for name, turn in runs_of(following) if turn == message} == {stored_for}, (
        "it is asked for where it runs"
    )
    stage.drop()
    pool.close()
