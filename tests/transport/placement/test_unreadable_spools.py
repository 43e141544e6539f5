"""What of a dead worker's turns when nobody can read what it has left."""

import os

import pytest

from showcaller.actors.contract.worker import TurnEnded
from tests.transport.placement.desk import Desk, run


def test_turns_of_a_worker_whose_spool_nobody_can_read_are_interrupted_and_another_follows(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    pool = desk.open()
    pool.send([run("ses_a", "msg_a")])
    worker = desk.placement.started[0]
    segment = worker.folder.spool / "00000001.spool"
    os.mkfifo(segment)
    desk.placement.died(worker.name)
    (end,) = desk.came
    assert isinstance(end, TurnEnded)
    assert (end.turn, end.stop_reason) == ("msg_a", "interrupted")
    assert str(segment) in caplog.text
    assert worker.folder.path.exists(), "somebody may mend it"
    assert pool.left_by(worker.name) is None
    desk.time_passes()
    assert len(desk.placement.started) == 2
