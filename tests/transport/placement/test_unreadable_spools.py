"""What of a dead worker's turns when nobody can read what it has left."""

import os

import pytest

from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    TurnActivity,
    TurnEnded,
    TurnOutput,
    TurnReturned,
    TurnTaken,
)
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


@pytest.mark.parametrize(
    "said",
    [
        TurnTaken(session="ses_a", turn="msg_a"),
        TurnOutput(session="ses_a", turn="msg_a", text="begun"),
        TurnActivity(session="ses_a", turn="msg_a", lines=("tool: make",)),
    ],
    ids=lambda said: said.kind,
)
@pytest.mark.parametrize("emptied", [True, False])
def test_a_turn_of_which_its_worker_has_spoken_never_runs_again_whatever_its_spool_says(
    desk: Desk, said: FromWorkerMessage, *, emptied: bool
) -> None:
    """Somebody has emptied the spool, or cut it where a record ends, so that nothing seems to be missing."""
    pool = desk.open()
    pool.send([run("ses_a", "msg_a"), run("ses_b", "msg_b")])
    worker = desk.placement.started[0]
    worker.link.say(said)
    if emptied:
        for segment in worker.folder.spool.glob("*.spool"):
            os.truncate(segment, 0)
    desk.placement.died(worker.name)
    told = {message.turn: message for message in desk.came if isinstance(message, TurnEnded | TurnReturned)}
    assert isinstance(told["msg_a"], TurnEnded)
    assert told["msg_a"].stop_reason == "interrupted"
    assert isinstance(told["msg_b"], TurnReturned), "of this one nobody has spoken"
