"""A worker as a real process, with the relay's end of its link in the test's hands."""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.contract.fates import Left, fate_of
from showcaller.actors.contract.ids import new_id
from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    RunTurn,
    SteerTurn,
    TurnEnded,
    TurnOutput,
    TurnSteered,
    TurnStored,
    TurnTaken,
)
from showcaller.transport.links.conversation import News
from showcaller.transport.links.sockets import WorkerHub
from showcaller.transport.links.workers import WorkerLink
from showcaller.transport.worker.bounded_log import LIMIT as LIMIT_OF_LOG
from showcaller.transport.worker.bounded_log import before
from showcaller.transport.worker.journal import end_in, left_in
from showcaller.transport.worker.process_identity import ProcessIdentity, signal_process
from showcaller.transport.worker.process_table import markers_around
from showcaller.transport.worker.remains import WORKERS_VARIABLE, end_remains
from showcaller.transport.worker.spool import left_behind
from showcaller.transport.worker.worker_folder import WorkerFolder
from tests.transport.worker.stage import wait_gone

LIMIT = 30.0
TOKEN = "a token that nobody guesses"


class Desk:
    """One worker process, and one relay's end after the other."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o700)
        self.folder = folder
        self.address = f"ipc://{folder / 'links'}"
        self.name = new_id("wrk_")
        self.own = folder / self.name
        self.own.mkdir(mode=0o700)
        self.runs = 0
        self.bind()

    def bind(self) -> None:
        """Let a relay be there, another one than before."""
        self.runs += 1
        self.messages: queue.Queue[FromWorkerMessage] = queue.Queue()
        self.news: queue.Queue[News] = queue.Queue()
        self.hub = WorkerHub(self.address, f"relay-{self.runs}", time.monotonic)
        self.link = WorkerLink(self.hub.expect(self.name, TOKEN, self.news.put))
        self.link.connect(self._deliver)

    def _deliver(self, messages: Sequence[FromWorkerMessage]) -> None:
        for message in messages:
            self.messages.put(message)

    def start(self, **more: Any) -> "subprocess.Popen[str]":
        options = {
            "name": self.name,
            "address": self.address,
            "token": TOKEN,
            "folder": str(self.own),
            **more,
        }
        self.marker = f"{self.name}.{new_id('wrk_')}"
        marked = markers_around(os.environ, WORKERS_VARIABLE, self.marker)
        with (self.folder / "log").open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "showcaller.transport.worker", self.marker],
                stdin=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, WORKERS_VARIABLE: marked},
                start_new_session=True,
            )
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(options) + "\n")
        self.process.stdin.close()
        return self.process

    def run(self, text: str, turn: str | None = None, **more: Any) -> RunTurn:
        known: dict[str, Any] = {
            "session": "ses_a",
            "turn": turn or new_id("msg_"),
            "provider": "command",
            "text": text,
        }
        made = RunTurn(**{**known, **more})
        self.link.send([made])
        return made

    def wait_for(self, wanted: Callable[[FromWorkerMessage], bool]) -> list[FromWorkerMessage]:
        """Give what came, up to the first message that is wanted."""
        came: list[FromWorkerMessage] = []
        while not came or not wanted(came[-1]):
            came.append(self.messages.get(timeout=LIMIT))
        return came

    def end_of(self, turn: str) -> TurnEnded:
        end = self.wait_for(lambda m: isinstance(m, TurnEnded) and m.turn == turn)[-1]
        assert isinstance(end, TurnEnded)
        return end

    @property
    def worker(self) -> ProcessIdentity:
        card = WorkerFolder(self.own).read()
        assert card is not None
        assert card.process is not None
        return card.process

    def exit_code(self) -> int:
        return self.process.wait(timeout=LIMIT)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        end_remains([self.marker])
        self.hub.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.close()


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    path = tmp_path / "gate"
    os.mkfifo(path)
    return path


def open_gate(path: Path, line: str) -> None:
    path.write_text(f"{line}\n")


def test_a_turn_runs_in_the_process_and_its_end_is_kept_until_it_is_stored(desk: Desk) -> None:
    desk.start()
    turn = desk.run("echo $PPID").turn
    end = desk.end_of(turn)
    assert (end.outcome, end.reply) == ("done", f"{desk.worker.pid}\n")
    assert end_in(left_behind(desk.own / "spool").turns[turn]) == end
    desk.link.send([TurnStored(session="ses_a", turn=turn)])
    again = desk.run("echo another", turn)
    assert desk.end_of(again.turn) == end, "asked once more, although stored: nothing runs twice"
    assert left_behind(desk.own / "spool").turns == {}
    desk.process.terminate()
    assert desk.exit_code() == 0
    assert left_in(WorkerFolder(desk.own)) == Left({})


def test_the_receipt_is_given_before_the_command_runs(desk: Desk) -> None:
    desk.start()
    turn = desk.run(f"cat {desk.own}/spool/*.spool | grep -c $SHOWCALLER_TURN", "msg_000000000001").turn
    came = desk.wait_for(lambda m: isinstance(m, TurnEnded))
    assert isinstance(came[0], TurnTaken)
    assert left_behind(desk.own / "spool").turns[turn][0].kind == "receipt"


def test_a_turn_goes_on_while_the_relay_is_away_and_the_next_relay_gets_all_of_it(
    desk: Desk, gate: Path
) -> None:
    desk.start()
    turn = desk.run(f"echo begun; read line < {gate}; echo $line").turn
    desk.wait_for(lambda m: isinstance(m, TurnOutput) and "begun" in m.text)
    desk.hub.close()
    open_gate(gate, "while it was away")
    desk.bind()
    desk.run("echo never", turn)
    came = desk.wait_for(lambda m: isinstance(m, TurnEnded) and m.turn == turn)
    end = came[-1]
    assert isinstance(end, TurnEnded)
    assert end.reply == "begun\nwhile it was away\n"


def test_the_next_relay_hears_again_what_a_running_turn_has_written(desk: Desk, gate: Path) -> None:
    desk.start()
    turn = desk.run(f"echo begun; read line < {gate}").turn
    desk.wait_for(lambda m: isinstance(m, TurnOutput) and "begun" in m.text)
    desk.hub.close()
    desk.bind()
    assert desk.news.get(timeout=LIMIT) == "met"
    desk.run("echo never", turn)
    came = desk.wait_for(lambda m: isinstance(m, TurnOutput) and "begun" in m.text)
    assert isinstance(came[0], TurnTaken)
    open_gate(gate, "")
    assert desk.end_of(turn).outcome == "done"


def test_a_relay_that_only_lost_sight_of_it_for_a_while_loses_nothing(desk: Desk) -> None:
    desk.start()
    first = desk.run("echo one").turn
    assert desk.end_of(first).outcome == "done"
    assert signal_process(desk.worker, signal.SIGSTOP)
    second = desk.run("echo two").turn
    assert desk.news.get(timeout=LIMIT) == "met"
    assert desk.news.get(timeout=LIMIT) == "away"
    assert signal_process(desk.worker, signal.SIGCONT)
    assert desk.news.get(timeout=LIMIT) == "back"
    assert desk.end_of(second).reply == "two\n"


def test_a_worker_that_is_killed_leaves_word_of_what_it_had_taken(desk: Desk, gate: Path) -> None:
    desk.start()
    ended = desk.run("echo ended").turn
    desk.end_of(ended)
    running = desk.run(f"read line < {gate}").turn
    desk.wait_for(lambda m: isinstance(m, TurnTaken) and m.turn == running)
    assert signal_process(desk.worker, signal.SIGKILL)
    assert desk.exit_code() == 128 + signal.SIGKILL
    left = left_behind(desk.own / "spool").turns
    assert end_in(left[ended]) is not None
    assert end_in(left[running]) is None


def test_functions_end_when_their_worker_is_killed(desk: Desk) -> None:
    (desk.folder / "jobs.py").write_text(
        "import os, threading\n"
        "def wait(item):\n"
        "    print(os.getpid(), flush=True)\n"
        "    threading.Event().wait(60)\n"
    )
    desk.start()
    turn = desk.run("", provider="callable:jobs:wait", cwd=str(desk.folder)).turn
    came = desk.wait_for(lambda m: isinstance(m, TurnOutput) and m.turn == turn)
    assert isinstance(came[0], TurnTaken)
    output = came[-1]
    assert isinstance(output, TurnOutput)
    assert signal_process(desk.worker, signal.SIGKILL)
    assert wait_gone(int(output.text))


def test_told_to_end_it_interrupts_what_runs_and_tells_so(desk: Desk, gate: Path) -> None:
    desk.start(grace=0.5)
    turn = desk.run(f"trap '' TERM; read line < {gate}").turn
    desk.wait_for(lambda m: isinstance(m, TurnTaken))
    desk.process.terminate()
    end = desk.end_of(turn)
    assert (end.outcome, end.stop_reason) == ("failed", "interrupted")
    assert desk.exit_code() == 0


def test_a_turn_that_comes_while_it_ends_gets_no_receipt_so_that_another_worker_runs_it(
    desk: Desk, gate: Path
) -> None:
    desk.start()
    text = f"trap 'echo asked; read line < {gate}' TERM; echo begun; sleep 1000 & wait"
    first = desk.run(text).turn
    desk.wait_for(lambda m: isinstance(m, TurnOutput) and "begun" in m.text)
    desk.process.terminate()
    desk.wait_for(lambda m: isinstance(m, TurnOutput) and "asked" in m.text)
    second = desk.run("echo never").turn
    desk.link.send([SteerTurn(session="ses_a", turn=first, message="msg_steer", text="")])
    desk.wait_for(lambda m: isinstance(m, TurnSteered))
    open_gate(gate, "")
    assert desk.end_of(first).stop_reason == "interrupted"
    assert desk.exit_code() == 0
    assert list(left_behind(desk.own / "spool").turns) == [first]
    assert desk.messages.empty()
    assert fate_of(second, left_in(WorkerFolder(desk.own))) == "untaken"


def test_a_worker_that_is_alone_for_too_long_ends(desk: Desk) -> None:
    desk.hub.close()
    desk.start(alone=1.0)
    assert desk.exit_code() == 0
    desk.bind()


def test_a_worker_that_nobody_expects_and_that_has_nothing_to_tell_ends(desk: Desk) -> None:
    desk.start(token="another token than the relay's")
    assert desk.exit_code() == 0


def test_a_worker_whose_folder_is_gone_ends_before_it_calls(desk: Desk) -> None:
    desk.own.rmdir()
    desk.start()
    assert desk.exit_code() == 1
    assert desk.news.empty()


@pytest.mark.parametrize("relay", ["there", "away"])
def test_a_worker_whose_folder_is_deleted_ends_though_a_turn_runs(desk: Desk, gate: Path, relay: str) -> None:
    desk.start()
    turn = desk.run(f"echo $$; cat {gate}")
    desk.wait_for(lambda message: isinstance(message, TurnOutput))
    if relay == "away":
        desk.hub.close()
    shutil.rmtree(desk.own)
    if relay == "there":
        assert desk.end_of(turn.turn).stop_reason == "interrupted"
    assert desk.exit_code() == 0
    assert not desk.own.exists()


def test_all_that_it_has_to_say_goes_into_a_log_within_bounds(desk: Desk) -> None:
    full = desk.own / "log"
    with full.open("wb") as file:
        file.truncate(LIMIT_OF_LOG)
    desk.start()
    desk.end_of(desk.run("echo hello").turn)
    desk.process.terminate()
    assert desk.exit_code() == 0
    assert "The relay is met" in full.read_text()
    assert before(full).stat().st_size == LIMIT_OF_LOG
    assert (desk.folder / "log").read_text() == ""


def test_bad_options_are_refused_in_one_line() -> None:
    for line in ("", "{}", "[1]", '{"name": "wrk_000000000000", "address": "tcp://0.0.0.0:1"}'):
        refused = subprocess.run(
            [sys.executable, "-m", "showcaller.transport.worker", "wrk_000000000000.a-marker"],
            input=line,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert refused.returncode == 2
        assert len(refused.stderr.splitlines()) == 1
        assert "started by a relay" in refused.stderr
