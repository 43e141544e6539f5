"""Commands that sessions put in the background, with real relays and workers, some of which are killed."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.e2e.daemon import living_workers, serving
from tests.e2e.outliving_program import Program, outliving
from tests.e2e.program import LIMIT, Bell, Showcaller, alive
from tests.transport.worker.stage import processes_with, wait_gone


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with outliving(tmp_path / "home") as program:
        yield program


class Server:
    """A command that a session leaves running: it writes a line for each that it is given, until ``end``."""

    def __init__(self, folder: Path, call: Callable[..., dict[str, Any]]) -> None:
        self.call = call
        self.gate = folder / "server"
        os.mkfifo(self.gate)
        reads = f'while read line && [ "$line" != end ]; do echo $line; done <> {self.gate}'
        begun = call("create_session", text=f"({reads}) & echo $!", wait_seconds=LIMIT)
        assert (begun["status"], begun["background"]["running"]) == ("running", 1), begun
        self.session: str = begun["session"]
        self.message: str = begun["message_id"]
        self.pid = int(begun["reply"]["text"])
        self.task: str = begun["background"]["tasks"][0]["id"]

    def tell(self, line: str) -> None:
        self.gate.write_text(f"{line}\n")

    def state(self) -> str:
        return str(self.call("read_session", session=self.session)["session"]["state"])

    def output(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read the task's output until it is as wanted, inside a limit."""
        until = monotonic() + LIMIT
        while not wanted(found := self.call("read_task_output", session=self.session, task_id=self.task)):
            assert monotonic() < until, found
        return found

    def lines(self, count: int) -> list[str]:
        """Give what it has written, once that is so many lines."""
        return list(self.output(lambda found: len(found["tail"]) >= count)["tail"])

    def status(self) -> str:
        """Give how the task has ended, once it has."""
        return str(self.output(lambda found: found["task"]["status"] != "running")["task"]["status"])


def test_a_daemon_tells_of_a_command_that_goes_on_and_of_its_end(showcaller: Showcaller) -> None:
    with serving(showcaller) as daemon, daemon.owner as owner:

        def call(action: str, **arguments: Any) -> dict[str, Any]:
            answer = owner.post("/api/call", json={"action": action, "relay": "this", **arguments}).json()
            assert answer["ok"], answer
            return dict(answer)

        server = Server(showcaller.folder, call)
        (listed,) = call("list_sessions")["sessions"]
        assert (listed["state"], listed["process"]) == ("background_only", "alive")
        assert [task["status"] for task in listed["tasks"]] == ["running"]
        server.tell("one")
        assert server.lines(1) == ["one"]
        second = call("send", session=server.session, text="echo meanwhile", wait_seconds=LIMIT)
        assert (second["status"], second["reply"]["text"]) == ("done", "meanwhile\n")
        server.tell("two")
        server.tell("end")
        assert server.status() == "done"
        assert server.lines(2) == ["one", "two"]
        assert server.state() == "idle"
        waited = call("wait", session=server.session, message_id=server.message, wait_seconds=0)
        assert waited["status"] == "done"


def test_a_stop_with_workers_ends_what_runs_in_the_background(showcaller: Showcaller, bell: Bell) -> None:
    with serving(showcaller) as daemon, daemon.owner as owner:
        text = f"setsid sh -c 'echo $$ > {bell.path}; exec sleep 1000' >/dev/null 2>&1 & true"
        call = {"action": "create_session", "relay": "this", "text": text, "wait_seconds": LIMIT}
        assert owner.post("/api/call", json=call).json()["status"] == "running"
        (pid,) = bell.hear(1)
        assert alive([int(pid)]) == [int(pid)]
        stopped = showcaller("stop", "--workers")
        assert stopped.code == 0, stopped.err
        assert alive([int(pid)]) == []
        assert living_workers(daemon.home) == []


def test_a_kill_ends_the_task_and_leaves_nothing(program: Program, tmp_path: Path) -> None:
    server = Server(tmp_path, program.call)
    server.tell("one")
    assert server.lines(1) == ["one"]
    refused = program.do("call", action="archive", session=server.session)
    assert refused["code"] == "REMOTE_RELAY_BUSY"
    assert program.call("stop", session=server.session)["stopRequested"] is False
    assert server.state() == "background_only"
    assert program.do("kill", session=server.session)["stopRequested"] is True
    assert server.status() == "stopped"
    assert alive([server.pid]) == []
    assert server.lines(1) == ["one"]
    assert program.call("archive", session=server.session)["ok"]


def test_a_task_goes_on_through_kill_9_of_its_relay_and_nothing_of_its_output_is_lost(
    program: Program, tmp_path: Path
) -> None:
    server = Server(tmp_path, program.call)
    server.tell("one")
    assert server.lines(1) == ["one"]
    program.kill()
    server.tell("two")
    assert alive([server.pid]) == [server.pid]
    program.start()
    assert server.state() == "background_only"
    server.tell("three")
    assert server.lines(3) == ["one", "two", "three"]
    server.tell("end")
    assert server.status() == "done"
    assert server.lines(3) == ["one", "two", "three"]
    again = program.call("send", session=server.session, text="echo another", wait_seconds=LIMIT)
    assert again["reply"]["text"] == "another\n"


@pytest.mark.parametrize("leaves", ["kill", "leave"])
def test_a_task_that_ends_while_no_relay_is_there_is_told_to_the_next(
    program: Program, tmp_path: Path, leaves: str
) -> None:
    server = Server(tmp_path, program.call)
    getattr(program, leaves)()
    server.tell("nobody was there")
    server.tell("end")
    assert wait_gone(server.pid)
    program.start()
    assert server.status() == "done"
    assert server.lines(1) == ["nobody was there"]
    assert server.state() == "idle"
    program.kill()
    program.start()
    assert server.status() == "done"
    assert program.do("end workers", end=True) == []
    program._reap()
    assert list((program.home / "workers").iterdir()) == []


@pytest.mark.parametrize("killed", ["worker", "guardian", "worker and guardian", "relay and worker"])
def test_whoever_is_killed_a_task_is_interrupted_and_leaves_nothing(
    program: Program, tmp_path: Path, killed: str
) -> None:
    server = Server(tmp_path, program.call)
    server.tell("one")
    assert server.lines(1) == ["one"]
    worker = program.worker()
    assert worker.marker is not None
    program.kill_those(killed)
    assert server.status() == "interrupted"
    assert server.state() == "idle"
    again = program.call("send", session=server.session, text="echo another", wait_seconds=LIMIT)
    assert again["reply"]["text"] == "another\n"
    assert processes_with(worker.marker) == []
