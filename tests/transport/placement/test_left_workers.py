"""Workers that a relay has left, looked at by one that has its worker in itself, and ended without any."""

import signal
from pathlib import Path

import pytest

from showcaller.actors.contract.fates import Left
from showcaller.transport.placement.left_workers import (
    LeftWorkers,
    WorkersAtWorkError,
    end_left_workers,
    living_workers,
)
from showcaller.transport.worker.process_identity import signal_process
from showcaller.transport.worker.worker_folder import WorkerCard, WorkerFolder
from tests.transport.placement.relay import LIMIT, Relay, process_of
from tests.transport.worker.stage import processes_with, wait_gone

OWN = "wrk_000000000000"
SLEEP = "exec sleep 1000"


def test_a_worker_at_work_is_left_alone_and_named(home: Path) -> None:
    relay = Relay(home, "run-1")
    worker = relay.start()
    relay.taken(worker, SLEEP)
    with pytest.raises(WorkersAtWorkError, match=f"process {worker.card.pid}.*has 1 turn$"):
        LeftWorkers(home / "workers", OWN)
    assert living_workers(home / "workers")
    relay.close()


def test_what_a_worker_killed_just_now_has_left_is_known_once_nothing_of_it_runs(home: Path) -> None:
    relay = Relay(home, "run-1")
    worker = relay.start()
    turn = relay.taken(worker, SLEEP)
    assert signal_process(process_of(worker), signal.SIGKILL)
    assert wait_gone(process_of(worker).pid)
    left = LeftWorkers(home / "workers", OWN)
    assert left.left_by(worker.name) == Left({turn: None})
    assert processes_with(worker.begun.marker or "no marker") == []
    left.recovered([])
    assert list((home / "workers").iterdir()) == []
    relay.close()


def test_ending_left_workers_counts_them_and_passes_over_the_dead(home: Path) -> None:
    relay = Relay(home, "run-1")
    workers = [relay.start() for _ in range(3)]
    turns = [relay.taken(worker, SLEEP) for worker in workers]
    relay.close()
    assert signal_process(process_of(workers[0]), signal.SIGKILL)
    nobody = WorkerFolder(home / "workers" / OWN)
    nobody.make()
    nobody.write(WorkerCard(name=OWN, token="x" * 24))
    ended, still = end_left_workers(home / "workers", LIMIT)
    assert (ended in {2, 3}, still) == (True, []), "the guardian of the killed one may still have been there"
    assert not living_workers(home / "workers")
    for worker, turn in zip(workers, turns, strict=True):
        assert processes_with(worker.begun.marker or "no marker") == []
        assert turn in LeftWorkers(home / "workers", OWN).left_by(worker.name).turns  # type: ignore[union-attr]
    assert end_left_workers(home / "workers", LIMIT) == (0, [])


def test_a_worker_that_does_not_end_in_time_is_named(home: Path) -> None:
    relay = Relay(home, "run-1")
    worker = relay.start()
    relay.taken(worker, SLEEP)
    relay.close()
    assert signal_process(process_of(worker), signal.SIGSTOP)
    assert end_left_workers(home / "workers", 0.1) == (0, [worker.card.pid])
    assert signal_process(process_of(worker), signal.SIGKILL)
