"""Background tasks of a worker process: what another relay is told of them, and that none outlives it."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from showcaller.actors.contract.worker import (
    AskTask,
    TaskEnded,
    TaskOutput,
    TaskStarted,
    TaskStored,
    TurnEnded,
    TurnStored,
)
from showcaller.transport.worker.process_identity import signal_process
from showcaller.transport.worker.spool import left_behind
from tests.transport.worker.stage import wait_gone
from tests.transport.worker.test_command_rest import Gate
from tests.transport.worker.test_service import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.close()


def leave(desk: Desk, text: str) -> TurnEnded:
    """Have a command leave something running, and its turn's end stored."""
    end = desk.end_of(desk.run(text, background=True).turn)
    desk.link.send([TurnStored(session="ses_a", turn=end.turn)])
    return end


def test_another_relay_is_told_of_a_task_and_may_ask_for_its_output(desk: Desk, tmp_path: Path) -> None:
    first, second, third = (Gate(tmp_path / name) for name in ("first", "second", "third"))
    desk.start()
    text = f"({'; '.join(f'{gate.wait}; echo $line' for gate in (first, second, third))}) & true"
    task = leave(desk, text).turn
    first.open("one")
    desk.wait_for(lambda m: isinstance(m, TaskOutput) and "one" in m.text)
    desk.hub.close()
    second.open("two")
    desk.bind()
    started = desk.wait_for(lambda m: isinstance(m, TaskStarted))[-1]
    assert started == TaskStarted(
        session="ses_a", task=task, type="command", description=text[:199] + "…", turn=task
    )
    desk.link.send([AskTask(session="ses_a", task=task)])
    told = desk.wait_for(lambda m: isinstance(m, TaskOutput) and m.again)[-1]
    assert isinstance(told, TaskOutput)
    assert told.text.startswith("one\n")
    third.open("three")
    end = desk.wait_for(lambda m: isinstance(m, TaskEnded))[-1]
    assert end == TaskEnded(session="ses_a", task=task, outcome="done", output="one\ntwo\nthree\n")


def test_an_end_is_told_to_each_relay_until_one_has_stored_it(desk: Desk, tmp_path: Path) -> None:
    gate = Gate(tmp_path / "go")
    desk.start()
    task = leave(desk, f"({gate.wait}; echo $line) & true").turn
    desk.hub.close()
    gate.open("alone")
    for _ in range(2):
        desk.bind()
        end = desk.wait_for(lambda m: isinstance(m, TaskEnded))[-1]
        assert isinstance(end, TaskEnded)
        assert end.output == "alone\n"
        assert list(left_behind(desk.own / "spool").turns) == [task]
        desk.hub.close()
    desk.bind()
    desk.wait_for(lambda m: isinstance(m, TaskEnded))
    desk.link.send([TaskStored(session="ses_a", task=task)])
    desk.end_of(desk.run("true").turn)
    assert task not in left_behind(desk.own / "spool").turns


@pytest.mark.parametrize("how", ["told to end", "killed"])
def test_no_task_outlives_its_worker(desk: Desk, tmp_path: Path, how: str) -> None:
    gate = Gate(tmp_path / "pid")
    desk.start()
    server = f"setsid sh -c 'echo $$ > {gate.path}; exec sleep 1000' >/dev/null 2>&1 &"
    end = leave(desk, f"{server} {gate.wait}; echo $line")
    number = signal.SIGTERM if how == "told to end" else signal.SIGKILL
    assert signal_process(desk.worker, number)
    assert wait_gone(int(end.reply))
    if how == "told to end":
        over = desk.wait_for(lambda m: isinstance(m, TaskEnded))[-1]
        assert over == TaskEnded(session="ses_a", task=end.turn, outcome="interrupted", output="")
    desk.exit_code()
