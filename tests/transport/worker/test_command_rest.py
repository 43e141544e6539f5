"""What commands leave running, with real processes: how it goes on, what it writes, and how it ends."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.contract.worker import KillAgent, TaskEnded, TaskOutput, TurnEnded
from showcaller.transport.worker import descendants, process
from showcaller.transport.worker.background import KEPT
from showcaller.transport.worker.command_rest import CommandRest
from showcaller.transport.worker.process_table import stat_of
from tests.transport.worker.conftest import OpenStage
from tests.transport.worker.stage import Stage, processes_with, wait_gone

KILL = KillAgent(session="ses_stage")


class Gate:
    """A named pipe at which a process waits until a line is written into it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)

    @property
    def wait(self) -> str:
        """Shell words that wait and then have the line in ``$line``."""
        return f"read line < {self.path}"

    def open(self, line: str = "") -> None:
        self.path.write_text(f"{line}\n")


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "gate")


def start(stage: Stage, text: str, **more: Any) -> str:
    return stage.start(text, background=True, **more)


async def test_a_turn_ends_with_its_shell_and_what_it_left_is_a_task_until_that_ends(
    stage: Stage, gate: Gate
) -> None:
    turn = start(stage, f"({gate.wait}; echo $line) &\necho up")
    end = await stage.end_of(turn)
    assert (end.outcome, end.exit_code, end.reply) == ("done", 0, "up\n")
    kinds = [message.kind for message in stage.messages]
    assert kinds.index("task_started") < kinds.index("turn_ended")
    task = await stage.task_of(turn)
    assert (task.type, task.description) == ("command", f"({gate.wait}; echo $line) & echo up")
    assert not any(isinstance(message, TaskEnded) for message in stage.messages)
    gate.open("bye")
    over = await stage.end_of_task(task.task)
    assert (over.outcome, over.exit_code, over.output) == ("done", None, "bye\n")


async def test_the_exit_code_is_the_shells_own(stage: Stage, gate: Gate) -> None:
    end = await stage.end_of(turn := start(stage, f"{gate.wait} &\nexit 3"))
    assert (end.outcome, end.exit_code) == ("failed", 3)
    gate.open()
    assert (await stage.end_of_task(turn)).outcome == "done"


NEW_GROUP = (
    f"{sys.executable} -S -c 'import os, sys; os.setpgid(0, 0); os.execve(sys.argv[1], sys.argv[1:], {{}})'"
)


@pytest.mark.parametrize(
    "text",
    [
        "sh -c 'WAIT' &",
        "sh -c 'WAIT' >/dev/null 2>&1 &",
        "sh -c 'exec >&- 2>&- <&-; WAIT' &",
        "nohup sh -c 'WAIT' &",
        "setsid sh -c 'WAIT' >/dev/null 2>&1 &",
        "(setsid sh -c 'WAIT' >/dev/null 2>&1 & exit 0); true",
        NEW_GROUP + " /bin/sh -c 'WAIT' >/dev/null 2>&1 &",
    ],
    ids=["plain", "redirected", "closed", "nohup", "own session", "grandchild", "own group, no environment"],
)
async def test_however_it_was_put_in_the_background_it_is_a_task_and_ends_as_one(
    stage: Stage, gate: Gate, tmp_path: Path, text: str
) -> None:
    turn = start(stage, text.replace("WAIT", gate.wait), cwd=str(tmp_path))
    assert (await stage.end_of(turn)).outcome == "done"
    await stage.task_of(turn)
    gate.open()
    assert (await stage.end_of_task(turn)).outcome == "done"


@pytest.mark.parametrize("text", ["true & true", "(exit 3) >/dev/null 2>&1 & true", "echo & wait"])
async def test_what_ends_by_itself_at_once_is_no_task(stage: Stage, text: str) -> None:
    for _ in range(5):
        end = await stage.run(text, background=True)
        assert end.outcome == "done"
    await stage.host.idle()
    assert {message.kind for message in stage.messages} <= {"turn_taken", "turn_output", "turn_ended"}


async def test_a_process_that_takes_the_place_of_another_is_of_the_same_task(
    stage: Stage, tmp_path: Path
) -> None:
    first, second = Gate(tmp_path / "first"), Gate(tmp_path / "second")
    follower = f"setsid sh -c '{second.wait}; echo last' &"
    turn = start(stage, f"({first.wait}; {follower} echo first) & true")
    await stage.end_of(turn)
    first.open()
    await stage.task_output_with(turn, "first\n")
    second.open()
    over = await stage.end_of_task(turn)
    assert (over.outcome, over.output) == ("done", "first\nlast\n")
    assert sum(isinstance(message, TaskEnded) for message in stage.messages) == 1


async def test_a_daemon_that_leaves_its_parents_just_as_its_command_ends_is_a_task(
    stage: Stage, gate: Gate
) -> None:
    """One process starts the next and ends, in sessions of their own, while it is looked for them."""
    daemon = f"setsid sh -c 'setsid sh -c \"{gate.wait}\" & exit 0' >/dev/null 2>&1 &"
    turns = [start(stage, f"{daemon} true") for _ in range(12)]
    for turn in turns:
        await stage.end_of(turn)
        await stage.task_of(turn)
    gate.open("\n" * len(turns))
    for turn in turns:
        assert (await stage.end_of_task(turn)).outcome == "done"


async def test_output_streams_into_the_task_and_not_into_the_turn(stage: Stage, tmp_path: Path) -> None:
    first, second = Gate(tmp_path / "first"), Gate(tmp_path / "second")
    turn = start(stage, f"({first.wait}; echo $line; {second.wait}; echo $line) & echo up")
    await stage.end_of(turn)
    first.open("one")
    assert await stage.task_output_with(turn, "one") == "one\n"
    second.open("two")
    assert (await stage.end_of_task(turn)).output == "one\ntwo\n"
    assert stage.output_of(turn) == "up\n"


async def test_the_end_of_much_output_is_kept(stage: Stage, gate: Gate) -> None:
    flood = "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last"
    turn = start(stage, f"({gate.wait}; {flood}) & true")
    await stage.end_of(turn)
    gate.open()
    output = (await stage.end_of_task(turn)).output
    assert output is not None
    assert len(output) == KEPT
    assert output.endswith("xxx\nlast\n")


async def test_the_shell_keeps_its_id_until_its_task_is_over(stage: Stage, gate: Gate) -> None:
    """So nobody else can get its process group, which is signalled."""
    turn = start(stage, f"echo $$; {gate.wait} &")
    shell = int((await stage.end_of(turn)).reply)
    left = stat_of(shell)
    assert left is not None
    assert left.has_ended
    gate.open()
    await stage.end_of_task(turn)
    assert stat_of(shell) is None


# -- ends before its time --------------------------------------------------------------------------


async def test_a_kill_ends_the_tasks_of_its_session_first_politely(stage: Stage, tmp_path: Path) -> None:
    ready = Gate(tmp_path / "ready")
    child = f"(trap 'echo tidied; exit' TERM; echo > {ready.path}; while :; do sleep 0.05; done) &"
    turn = start(stage, f"{child} {ready.wait}")
    await stage.end_of(turn)
    stage.relay.send([KillAgent(session="ses_other"), KILL])
    over = await stage.end_of_task(turn)
    assert over.outcome == "stopped"
    assert str(over.output).endswith("tidied\n")


@pytest.mark.parametrize("session", ["", "setsid "], ids=["in its session", "in one of its own"])
async def test_what_ignores_sigterm_is_killed_after_the_grace_before_the_end_is_told(
    open_stage: OpenStage, marker: str, tmp_path: Path, session: str
) -> None:
    stage, ready = open_stage(grace=0.2), Gate(tmp_path / "ready")
    stubborn = f"{session}sh -c 'trap \"\" TERM; echo > {ready.path}; while :; do sleep 1000; done' &"
    turn = start(stage, f"{stubborn} {ready.wait}")
    await stage.end_of(turn)
    assert processes_with(marker) != []
    stage.relay.send([KILL])
    assert (await stage.end_of_task(turn)).outcome == "stopped"
    assert all(wait_gone(pid, 0) for pid in processes_with(marker))


async def test_a_stop_of_a_turn_ends_that_with_all_that_it_started_and_no_task(
    stage: Stage, gate: Gate
) -> None:
    left = start(stage, f"({gate.wait}; echo $line) & true")
    await stage.end_of(left)
    running = start(stage, "sleep 1000 & echo up; wait")
    await stage.output_with(running, "up")
    stage.stop(running)
    assert (await stage.end_of(running)).outcome == "stopped"
    gate.open("undisturbed")
    assert (await stage.end_of_task(left)).output == "undisturbed\n"
    assert sum(message.kind == "task_started" for message in stage.messages) == 1


async def test_closing_interrupts_tasks_and_delivers_their_ends(
    stage: Stage, gate: Gate, marker: str
) -> None:
    turn = start(stage, f"{gate.wait} & true")
    await stage.end_of(turn)
    await stage.host.close()
    assert (await stage.end_of_task(turn)).outcome == "interrupted"
    assert processes_with(marker) == []


async def test_a_turn_that_may_leave_nothing_ends_with_all_that_it_started(stage: Stage, marker: str) -> None:
    end = await stage.run("setsid sleep 1000 & sleep 1000 & echo up")
    assert end.reply == "up\n"
    await stage.host.idle()
    assert all(wait_gone(pid) for pid in processes_with(marker))
    assert not any(message.kind == "task_started" for message in stage.messages)


# -- where the system tells less -------------------------------------------------------------------


async def test_without_descriptors_of_processes_they_are_looked_at(
    stage: Stage, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_pidfd", lambda pid: None)
    monkeypatch.setattr(process, "LOOK", 0.05)
    turn = start(stage, f"{gate.wait} >/dev/null 2>&1 & true")
    await stage.end_of(turn)
    gate.open()
    assert (await stage.end_of_task(turn)).outcome == "done"


async def test_without_a_table_of_processes_the_pipe_tells_what_goes_on(
    stage: Stage, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(descendants, "stat_of", lambda pid: None)
    turn = start(stage, f"({gate.wait}; echo $line) & true")
    assert (await stage.end_of(turn)).outcome == "done"
    gate.open("told")
    assert (await stage.end_of_task(turn)).output == "told\n"
    assert isinstance(await stage.run("true", background=True), TurnEnded)
    assert sum(message.kind == "task_started" for message in stage.messages) == 1


@pytest.mark.parametrize(
    ("command", "description"),
    [
        ("make  watch &\n", "make watch &"),
        ("x" * 200, "x" * 200),
        ("x" * 100_000, "x" * 199 + "…"),
    ],
)
def test_a_task_is_described_by_the_beginning_of_its_command_in_one_line(
    command: str, description: str
) -> None:
    child: Any = None
    assert CommandRest(child, command).description == description


async def test_what_a_task_writes_in_a_burst_is_few_messages(open_stage: OpenStage, gate: Gate) -> None:
    stage = open_stage()
    turn = start(stage, f"({gate.wait}; i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); done) & true")
    await stage.end_of(turn)
    gate.open()
    over = await stage.end_of_task(turn)
    assert str(over.output).splitlines() == [str(number) for number in range(2000)]
    assert sum(isinstance(message, TaskOutput) for message in stage.messages) < 200
