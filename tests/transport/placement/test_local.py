"""Workers that a relay starts, and that the next one finds."""

import json
import os
import queue
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from showcaller.actors.contract.ids import new_id
from showcaller.transport.placement.deaths import DeathWatch
from showcaller.transport.wire.protocol import PROTOCOL, SPOKEN, spoken_by
from showcaller.transport.worker.process_identity import ProcessIdentity, identify, is_alive, signal_process
from showcaller.transport.worker.worker_folder import ForeignWorkerError, WorkerCard, WorkerFolder
from tests.transport.placement.relay import LIMIT, Relay, process_of


def test_a_worker_is_started_runs_a_turn_and_is_found_by_the_next_relay(home: Path) -> None:
    first = Relay(home, "run-1")
    worker = first.start()
    assert first.run(worker, "echo one") == "one\n"
    first.close()
    assert is_alive(process_of(worker)), "it outlives its relay"
    second = Relay(home, "run-2")
    alive, dead = second.find()
    assert [found.card for found in alive] == [worker.card]
    assert dead == []
    found = second.connected(alive[0])
    assert second.run(found, "echo two") == "two\n"
    second.placement.end(worker.name)
    assert second.deaths.get(timeout=LIMIT) == worker.name
    second.close()


def test_the_death_of_a_worker_is_told_once_and_leaves_no_zombie(home: Path) -> None:
    relay = Relay(home, "run-1")
    worker = relay.start()
    assert relay.run(worker, "echo up") == "up\n"
    guardian = worker.card.guardian
    assert signal_process(process_of(worker), signal.SIGKILL)
    assert relay.deaths.get(timeout=LIMIT) == worker.name
    assert not Path(f"/proc/{process_of(worker).pid}").exists()
    assert not Path(f"/proc/{guardian}").exists()
    assert relay.deaths.empty()
    relay.close()
    following = Relay(home, "run-2")
    alive, dead = following.find()
    following.close()
    assert (alive, [folder.path.name for folder in dead]) == ([], [worker.name])


def test_a_folder_whose_worker_was_never_started_counts_as_dead(home: Path) -> None:
    names = [new_id("wrk_") for _ in range(3)]
    folders = [WorkerFolder(home / "workers" / name) for name in names]
    for folder in folders:
        folder.make()
    folders[1].write(WorkerCard(name=names[1], token="x" * 24))
    (folders[2].path / "worker.json").write_text('{"torn": ')
    relay = Relay(home, "run-1")
    alive, dead = relay.find()
    assert alive == []
    assert sorted(folder.path.name for folder in dead) == sorted(names)
    for folder in dead:
        folder.clear_away()
    assert list((home / "workers").iterdir()) == []
    relay.close()


def test_an_id_that_another_process_has_got_is_not_the_worker(home: Path) -> None:
    mine = identify(os.getpid())
    assert is_alive(mine)
    assert mine.started is not None
    stale = ProcessIdentity(os.getpid(), mine.started - 1)
    assert not is_alive(stale)
    assert not signal_process(stale, signal.SIGKILL)
    folder = WorkerFolder(home / "workers" / "wrk_000000000001")
    folder.make()
    stranger = WorkerCard(name="wrk_000000000001", token="x" * 24, pid=os.getpid(), started=mine.started - 1)
    folder.write(stranger)
    relay = Relay(home, "run-1")
    alive, dead = relay.find()
    assert (alive, len(dead)) == ([], 1)
    relay.close()


def test_a_process_that_has_ended_and_is_not_reaped_is_not_alive() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL) as child:
        identity = identify(child.pid)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(identity)


def test_the_watch_tells_at_once_of_one_that_is_dead_already() -> None:
    watch = DeathWatch()
    told: queue.Queue[str] = queue.Queue()
    watch.watch(ProcessIdentity(2**22 - 1, 1), lambda: told.put("nobody"))
    watch.watch(ProcessIdentity(os.getpid(), 1), lambda: told.put("another"))
    assert [told.get(timeout=LIMIT) for _ in range(2)] == ["nobody", "another"]
    watch.close()
    watch.close()


def test_only_its_owner_can_read_a_workers_token(home: Path) -> None:
    relay = Relay(home, "run-1")
    worker = relay.start()
    assert worker.folder.path.stat().st_mode & 0o777 == 0o700
    assert (worker.folder.path / "worker.json").stat().st_mode & 0o777 == 0o600
    token = worker.card.token
    assert token not in relay.run(worker, "env; cat /proc/$PPID/cmdline; cat /proc/$PPID/environ")
    for pid in (worker.card.pid, worker.card.guardian):
        command_line = Path(f"/proc/{pid}/cmdline").read_bytes()
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert token.encode() not in command_line + environment
    assert token.encode() not in worker.folder.log.read_bytes()
    relay.close()


def test_a_living_worker_of_another_version_is_told_apart_from_the_dead(home: Path) -> None:
    mine = identify(os.getpid())
    folder = WorkerFolder(home / "workers" / "wrk_000000000001")
    folder.make()
    newer = PROTOCOL + 1
    card = {"protocol": newer, "name": folder.path.name, "pid": mine.pid, "started": mine.started}
    relay = Relay(home, "run-1")
    for more in ({}, {"token": "x" * 24}, {"more": 1}):
        (folder.path / "worker.json").write_text(json.dumps(card | more))
        with pytest.raises(ForeignWorkerError, match=f"process {mine.pid}.*the peer speaks version {newer}"):
            relay.find()
    assert mine.started is not None
    (folder.path / "worker.json").write_text(json.dumps(card | {"started": mine.started - 1}))
    alive, dead = relay.find()
    assert (alive, len(dead)) == ([], 1)
    relay.close()


@pytest.mark.parametrize("protocol", SPOKEN)
def test_a_worker_of_the_version_before_is_taken_after_an_upgrade(home: Path, protocol: int) -> None:
    mine = identify(os.getpid())
    folder = WorkerFolder(home / "workers" / "wrk_000000000001")
    folder.make()
    folder.write(WorkerCard(protocol=protocol, name="wrk_000000000001", token="x" * 24, pid=mine.pid))
    card = folder.read(spoken=SPOKEN)
    assert card is not None
    assert (card.protocol, card.is_alive) == (protocol, True)
    with pytest.raises(ForeignWorkerError, match="end it with the version that has started it"):
        folder.read(spoken=spoken_by(PROTOCOL + 2))
    folder.clear_away()


def test_deaths_are_noticed_where_processes_have_no_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    watch = DeathWatch()
    told: queue.Queue[str] = queue.Queue()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    watch.watch(identify(child.pid), lambda: told.put("dead"))
    assert signal_process(identify(child.pid), signal.SIGTERM)
    assert told.get(timeout=LIMIT) == "dead"
    assert not Path(f"/proc/{child.pid}").exists()
    watch.close()
    assert child.stdin is not None
    child.stdin.close()
    child.returncode = -signal.SIGTERM


def test_a_worker_that_is_started_after_the_socket_was_taken_away_can_call(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    relay = Relay(home, "run-1")
    (home / "links").unlink()
    worker = relay.start()
    assert relay.run(worker, "echo here") == "here\n"
    assert f"{home / 'links'} had been taken away from this relay and is bound again" in caplog.text
    relay.close()


def test_a_worker_that_does_not_call_is_told_of_and_its_socket_mended(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    name, mine = new_id("wrk_"), identify(os.getpid())
    folder = WorkerFolder(home / "workers" / name)
    folder.make()
    folder.write(WorkerCard(name=name, token="x" * 24, pid=mine.pid, started=mine.started))
    relay = Relay(home, "run-1")
    assert [worker.name for worker in relay.find()[0]] == [name]
    (home / "links").unlink()
    relay.later.get_nowait()()
    assert "has not called at ipc://" in caplog.text
    assert "is bound again" in caplog.text
    caplog.clear()
    relay.later.get_nowait()()
    assert "has not called at ipc://" in caplog.text, "it is told again, for as long as that goes on"
    assert "is bound again" not in caplog.text
    relay.close()
