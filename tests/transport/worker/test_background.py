"""Tasks in a worker's books: begun, told, asked for, ended, and forgotten once their ends are stored."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from showcaller.actors.contract.worker import (
    AskTask,
    KillAgent,
    RunTurn,
    TaskEnded,
    TaskOutput,
    TaskStarted,
    TaskStored,
    ToWorkerMessage,
    TurnEnded,
    TurnStored,
)
from showcaller.transport.worker import background
from showcaller.transport.worker.journal import SpoolJournal
from showcaller.transport.worker.providers import Result, Sink
from showcaller.transport.worker.spool import Spool
from tests.transport.worker.stage import Stage

SESSION = "ses_stage"


class Leftover:
    """What goes on until the test, or a halt, ends it."""

    def __init__(self, description: str = "a server") -> None:
        self.description = description
        self.over = asyncio.Event()
        self.sink: Sink | None = None
        self.obeys = True
        self.fails = False
        self.was_cancelled = False

    async def ended(self, sink: Sink) -> None:
        self.sink = sink
        sink.on_halt(lambda: self.over.set() if self.obeys else None)
        try:
            await self.over.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        if self.fails:
            raise RuntimeError("a mistake")

    def write(self, text: str) -> None:
        assert self.sink is not None
        self.sink.write(text)


class Leaving:
    """Ends every turn at once, and leaves what the test has given it; a turn named ``wait`` waits first."""

    def __init__(self) -> None:
        self.left: list[Leftover] = []
        self.settled = asyncio.Event()
        self.goes_on = asyncio.Event()

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        if turn.text == "wait":
            sink.settle()
            self.settled.set()
            await self.goes_on.wait()
        self.left.append(Leftover())
        return Result("up", rest=self.left[-1])

    async def close(self) -> None:
        assert all(leftover.over.is_set() or leftover.was_cancelled for leftover in self.left)


@pytest.fixture
def provider() -> Leaving:
    return Leaving()


@pytest.fixture
async def stage(provider: Leaving) -> AsyncIterator[Stage]:
    stage = Stage({"command": provider}, grace=0.01)
    yield stage
    await stage.host.close()
    stage.relay.close()


async def left(stage: Stage, text: str = "") -> str:
    """Have a turn leave something, and wait until it is looked after; gives the task's name."""
    turn = stage.start(text)
    await stage.end_of(turn)
    return (await stage.task_of(turn)).task


async def told(stage: Stage, *wanted: object) -> None:
    for message in wanted:
        await stage.first(lambda came, message=message: came == message)


async def test_a_task_is_told_before_its_turns_end_and_has_the_name_of_that(stage: Stage) -> None:
    task = await left(stage)
    assert [message.kind for message in stage.messages] == ["turn_taken", "task_started", "turn_ended"]
    assert stage.messages[1] == TaskStarted(
        session=SESSION, task=task, type="command", description="a server", turn=task
    )


async def test_who_asks_for_a_task_is_told_all_that_is_kept_of_it_in_place_of_what_was_on_its_way(
    stage: Stage, provider: Leaving
) -> None:
    task = await left(stage)
    provider.left[0].write("one\n")
    await stage.task_output_with(task, "one")
    provider.left[0].write("two\n")
    stage.relay.send([AskTask(session=SESSION, task=task)])
    provider.left[0].write("three\n")
    await stage.task_output_with(task, "three")
    outputs = [(m.text, m.again) for m in stage.messages if isinstance(m, TaskOutput)]
    assert outputs == [("one\n", False), ("one\ntwo\n", True), ("three\n", False)]


async def test_who_asks_for_a_task_that_has_ended_is_told_its_end_until_that_is_stored(
    stage: Stage, provider: Leaving
) -> None:
    task = await left(stage)
    provider.left[0].write("all of it")
    provider.left[0].over.set()
    end = await stage.end_of_task(task)
    assert end == TaskEnded(session=SESSION, task=task, outcome="done", output="all of it")
    ask = AskTask(session=SESSION, task=task)
    stage.messages.clear()
    stage.relay.send([ask, TaskStored(session=SESSION, task=task), ask])
    await told(stage, end, TaskEnded(session=SESSION, task=task, outcome="interrupted"))
    assert len(stage.messages) == 2


async def test_another_relay_is_told_which_tasks_there_are_and_which_have_ended(
    stage: Stage, provider: Leaving
) -> None:
    first, second = await left(stage), await left(stage)
    provider.left[0].over.set()
    end = await stage.end_of_task(first)
    stage.messages.clear()
    stage.host.meet_another_relay()
    await told(stage, end)
    stories = [(message.kind, message.task) for message in stage.messages]  # type: ignore[union-attr]
    assert sorted(stories) == [("task_ended", first), ("task_started", first), ("task_started", second)]


async def test_what_is_written_while_the_relay_is_away_is_told_when_it_is_back(
    stage: Stage, provider: Leaving
) -> None:
    task = await left(stage)
    provider.left[0].write("one\n")
    await stage.task_output_with(task, "one")
    stage.host.relay_is_away()
    for number in range(background.KEPT // 4):
        provider.left[0].write(f"{number}\n")
    provider.left[0].write("last")
    stage.host._tasks._send_output()  # as it is time and again
    before = len(stage.output_of_task(task))
    stage.host.relay_is_back()
    await stage.task_output_with(task, "last")
    told = [m for m in stage.messages if isinstance(m, TaskOutput) and m.task == task]
    assert before == len("one\n")
    assert [(m.again, len(m.text)) for m in told] == [(False, 4), (True, background.KEPT)]


async def test_a_kill_between_a_commands_end_and_its_task_ends_that_as_well(
    stage: Stage, provider: Leaving
) -> None:
    turn = stage.start("wait")
    await provider.settled.wait()
    stage.relay.send([KillAgent(session=SESSION)])
    provider.goes_on.set()
    assert (await stage.end_of(turn)).outcome == "done"
    assert (await stage.end_of_task(turn)).outcome == "stopped"


async def test_what_is_left_while_the_worker_closes_is_interrupted(stage: Stage, provider: Leaving) -> None:
    turn = stage.start("wait")
    await provider.settled.wait()
    closing = asyncio.ensure_future(stage.host.drain())
    provider.goes_on.set()
    await closing
    assert (await stage.end_of_task(turn)).outcome == "interrupted"


async def test_what_does_not_end_in_time_is_given_up(
    stage: Stage, provider: Leaving, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background, "PATIENCE", 0.01)
    task = await left(stage)
    provider.left[0].obeys = False
    stage.relay.send([KillAgent(session=SESSION)])
    assert (await stage.end_of_task(task)).outcome == "stopped"
    assert provider.left[0].was_cancelled
    assert "given up" in caplog.text


async def test_a_mistake_over_a_task_fails_that_task_alone(
    stage: Stage, provider: Leaving, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = await left(stage), await left(stage)
    provider.left[0].fails = True
    with caplog.at_level(logging.ERROR, "showcaller.worker"):
        for leftover in provider.left:
            leftover.over.set()
        assert (await stage.end_of_task(first)).outcome == "failed"
        assert (await stage.end_of_task(second)).outcome == "done"
    assert "a mistake" in caplog.text


@pytest.mark.parametrize("whose", ["session", "worker"])
async def test_what_would_be_one_task_too_many_is_ended_and_its_turn_has_failed(
    stage: Stage, provider: Leaving, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    monkeypatch.setattr(background, f"TASKS_PER_{whose.upper()}", 1)
    task = await left(stage)
    end = await stage.run()
    assert (end.outcome, end.reply) == ("failed", "up")
    assert str(end.error_text).startswith("what it put in the background was ended with it: 1 task")
    assert str(end.error_text).endswith(f"of its {whose} run already")
    assert provider.left[1].over.is_set()
    provider.left[0].over.set()
    await stage.end_of_task(task)
    assert (await stage.run()).outcome == "done"


async def test_the_receipt_of_a_turn_is_kept_until_its_task_is_stored(
    provider: Leaving, tmp_path: Path
) -> None:
    """By it others tell that this worker has something that is still needed."""
    spool = Spool(tmp_path / "spool")
    stage = Stage({"command": provider}, journal=SpoolJournal(spool))
    for order in ("turn first", "task first"):
        task = await left(stage)
        provider.left[-1].over.set()
        await stage.end_of_task(task)
        stored: list[ToWorkerMessage] = [
            TurnStored(session=SESSION, turn=task),
            TaskStored(session=SESSION, task=task),
        ]
        for message in stored if order == "turn first" else reversed(stored):
            assert spool.turns == (task,)
            stage.relay.send([message])
        assert spool.turns == ()
    await stage.host.close()
    stage.relay.close()


async def test_a_task_that_is_called_stored_and_still_runs_goes_on(stage: Stage, provider: Leaving) -> None:
    task = await left(stage)
    stage.relay.send([TaskStored(session=SESSION, task=task)])
    provider.left[0].over.set()
    assert (await stage.end_of_task(task)).outcome == "done"
    assert isinstance(await stage.end_of(task), TurnEnded)
