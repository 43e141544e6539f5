"""Workers that outlive their relay, with real processes: the relay killed, the worker killed, both."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from showcaller.transport.worker.process_identity import signal_process
from showcaller.transport.worker.worker_folder import WorkerCard
from tests.e2e.daemon import end_workers, living_workers
from tests.transport.worker.stage import processes_with

LIMIT = 60


class Program:
    """One run of the relay after the other, over one folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.process = self.start()

    def start(self) -> "subprocess.Popen[str]":
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.outliving_relay", str(self.home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self.process

    def do(self, what: str, **more: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": what, **more}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def call(self, action: str, **arguments: Any) -> dict[str, Any]:
        result = self.do("call", action=action, **arguments)
        assert result["ok"], result
        return result  # type: ignore[no-any-return]

    def wait(self, prompt: dict[str, Any], seconds: int = LIMIT) -> dict[str, Any]:
        named = {"session": prompt["session"], "message_id": prompt["message_id"]}
        return self.call("wait", **named, wait_seconds=seconds)

    def kill(self) -> None:
        self.process.kill()
        self._reap()

    def leave(self) -> None:
        assert self.do("leave", end=True) == "left"
        self._reap()

    def _reap(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.wait(LIMIT)
        self.process.stdin.close()
        self.process.stdout.close()

    def worker(self) -> WorkerCard:
        (card,) = living_workers(self.home)
        return card


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    program = Program(home)
    yield program
    if program.process.poll() is None:
        program.kill()
    end_workers(home)


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
    if "relay" in killed:
        program.kill()
    for process in (worker.guardian_process, worker.process):
        assert process is not None
        name = "worker" if process == worker.process else "guardian"
        assert name not in killed or signal_process(process, signal.SIGKILL)
    if "relay" in killed:
        program.start()
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
