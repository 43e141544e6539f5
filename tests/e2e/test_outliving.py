"""Workers that outlive their relay, with real processes: the relay killed, the worker killed, both."""

import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.outliving_program import LIMIT, Program, outliving
from tests.transport.worker.stage import processes_with


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with outliving(tmp_path / "home") as program:
        yield program


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    path = tmp_path / "gate"
    os.mkfifo(path)
    return path


def await_death(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    assert select.select([descriptor], [], [], LIMIT)[0]
    os.close(descriptor)


def test_a_turn_goes_on_through_kill_9_of_its_relay_and_runs_once(
    program: Program, gate: Path, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    text = f"echo ran >> {count}; read line < {gate}; echo $line"
    prompt = program.call("create_session", text=text, wait_seconds=0)
    opened = gate.open("w")
    worker = program.worker()
    program.kill()
    assert worker.is_alive
    program.start()
    assert program.call("read_session", session=prompt["session"])["state"] == "running_turn"
    opened.write("through it all\n")
    opened.close()
    end = program.wait(prompt)
    assert (end["status"], end["reply"]["text"]) == ("done", "through it all\n")
    assert count.read_text() == "ran\n"
    assert program.worker() == worker


def test_a_turn_that_ended_while_no_relay_was_there_is_told_to_the_next(program: Program, gate: Path) -> None:
    prompt = program.call("create_session", text=f"read line < {gate}; echo $line", wait_seconds=0)
    opened = gate.open("w")
    program.kill()
    opened.write("nobody was there\n")
    opened.close()
    program.start()
    assert program.wait(prompt)["reply"]["text"] == "nobody was there\n"


def test_a_relay_that_leaves_interrupts_nothing(program: Program, gate: Path) -> None:
    prompt = program.call("create_session", text=f"read line < {gate}; echo $line", wait_seconds=0)
    opened = gate.open("w")
    program.leave()
    program.start()
    opened.write("as before\n")
    opened.close()
    assert program.wait(prompt)["reply"]["text"] == "as before\n"


def test_a_worker_that_is_killed_has_its_turn_interrupted_and_another_in_its_place(
    program: Program, gate: Path, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    text = f"echo ran >> {count}; read line < {gate}"
    prompt = program.call("create_session", text=text, wait_seconds=0)
    opened = gate.open("w")
    worker = program.worker()
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    end = program.wait(prompt)
    assert (end["status"], end["stopReason"]) == ("failed", "interrupted")
    again = program.call("send", session=prompt["session"], text="echo another", wait_seconds=LIMIT)
    assert again["reply"]["text"] == "another\n"
    assert program.worker().pid != worker.pid
    assert count.read_text() == "ran\n", "it is not repeated by itself"
    opened.close()


def test_relay_and_worker_killed_together_leave_an_interrupted_turn_and_what_had_ended(
    program: Program, gate: Path
) -> None:
    done = program.call("create_session", text="echo done", wait_seconds=LIMIT)
    prompt = program.call("create_session", text=f"read line < {gate}", wait_seconds=0)
    opened = gate.open("w")
    worker = program.worker()
    assert worker.pid is not None
    program.kill()
    os.kill(worker.pid, signal.SIGKILL)
    await_death(worker.pid)
    program.start()
    assert program.wait(prompt)["stopReason"] == "interrupted"
    assert program.wait(done)["status"] == "done"
    again = program.call("send", session=prompt["session"], text="echo another", wait_seconds=LIMIT)
    assert again["reply"]["text"] == "another\n"
    opened.close()


@pytest.mark.parametrize(
    "killed", ["worker", "guardian", "worker and guardian", "relay, worker and guardian"]
)
def test_whoever_is_killed_a_turn_runs_once_is_interrupted_and_leaves_nothing(
    program: Program, tmp_path: Path, killed: str
) -> None:
    gate, count = tmp_path / "gate", tmp_path / "count"
    os.mkfifo(gate)
    text = f"echo $$ >> {count}; echo begun > {gate}; exec setsid --wait sleep 1000"
    prompt = program.call("create_session", text=text, wait_seconds=0)
    gate.read_text()
    worker = program.worker()
    assert worker.marker is not None
    program.kill_those(killed)
    assert program.wait(prompt)["stopReason"] == "interrupted"
    again = program.call("send", session=prompt["session"], text="echo another", wait_seconds=LIMIT)
    assert again["reply"]["text"] == "another\n"
    assert len(count.read_text().splitlines()) == 1
    assert processes_with(worker.marker) == []


def test_ending_the_workers_leaves_no_process_and_no_folder(program: Program) -> None:
    assert program.call("create_session", text="echo done", wait_seconds=LIMIT)["status"] == "done"
    worker = program.worker()
    assert program.do("end workers", end=True) == []
    program._reap()
    assert not worker.is_alive
    assert list((program.home / "workers").iterdir()) == []
