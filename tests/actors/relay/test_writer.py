"""The writer: each command is answered once, whatever becomes of the actor in between."""

from typing import Any

import pytest

from showcaller.actors.relay.log_reading import Bell
from showcaller.actors.relay.messages import AwaitReady, AwaitStored, Write, Written
from showcaller.actors.relay.writer import INTENSITY, WRITER, start_writer
from showcaller.actors.relay.writer_ledger import BATCH_LIMIT, BATCH_TEXT, Ledger, text_size
from showcaller.actors.runtime import ActorRef, GetChild
from showcaller.actors.runtime.testkit import ManualDispatcher, probe
from showcaller.store.batch import Answer, Batch, BatchDone
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


class Port:
    """A writer port that keeps each batch until the test answers it, and knows a repeat as the store does."""

    def __init__(self) -> None:
        self.submitted: list[tuple[Batch, BatchDone]] = []
        self.breaks = 0
        self.ran: list[int] = []

    def submit(self, batch: Batch, done: BatchDone) -> None:
        if self.breaks:
            self.breaks -= 1
            raise RuntimeError("the port is broken")
        self.submitted.append((batch, done))

    def answer(self, number: int = -1) -> None:
        batch, done = self.submitted[number]
        if batch.number not in self.ran:
            self.ran.append(batch.number)
        done([Answer(command.number, command.arguments) for command in batch.commands])

    def close(self) -> None:
        """Nothing to close."""


class Desk:
    """A supervised writer over a port, and somebody who asks."""

    def __init__(self) -> None:
        self.dispatcher = ManualDispatcher()
        self.port = Port()
        self.ledger = Ledger("first")
        with self.dispatcher:
            self.supervisor = start_writer(self.port, self.ledger, Bell())
            self.writer: ActorRef[Any] = self.supervisor.ask(GetChild(WRITER))
            self.sender, self.heard = probe()

    def write(self, tag: int, **arguments: Any) -> None:
        self.writer.tell(Write("note", arguments, self.sender, tag))

    def settle(self) -> None:
        self.dispatcher.settle()

    @property
    def tags(self) -> list[int]:
        return [told.tag for told in self.heard if isinstance(told, Written)]

    @property
    def sizes(self) -> list[int]:
        return [len(batch.commands) for batch, _ in self.port.submitted]

    def answer_all(self) -> None:
        self.settle()
        while len(self.port.ran) < len(self.port.submitted):
            self.port.answer()
            self.settle()


@pytest.fixture
def desk() -> Desk:
    return Desk()


# -- batches ---------------------------------------------------------------------------------------


def test_what_comes_while_a_batch_is_under_way_is_the_next_one(desk: Desk) -> None:
    for tag in (1, 2):
        desk.write(tag)
    desk.settle()
    for tag in (3, 4, 5):
        desk.write(tag)
    desk.settle()
    assert desk.sizes == [2]
    desk.answer_all()
    assert desk.sizes == [2, 3]
    assert desk.tags == [1, 2, 3, 4, 5]
    numbers = [command.number for batch, _ in desk.port.submitted for command in batch.commands]
    assert numbers == [1, 2, 3, 4, 5]


def test_a_batch_is_bounded_in_commands(desk: Desk) -> None:
    for tag in range(BATCH_LIMIT + 1):
        desk.write(tag)
    desk.answer_all()
    assert desk.sizes == [BATCH_LIMIT, 1]
    assert desk.tags == list(range(BATCH_LIMIT + 1))


def test_a_batch_is_bounded_in_text_and_a_command_that_is_longer_goes_alone(desk: Desk) -> None:
    half = "x" * (BATCH_TEXT // 2)
    for tag, text in enumerate((half, half, half, "small", 3 * half, "small")):
        desk.write(tag, reply={"id": "msg_1", "text": text})
    desk.answer_all()
    assert desk.tags == [0, 1, 2, 3, 4, 5]
    assert desk.sizes == [1, 1, 2, 1, 1]
    for batch, _ in desk.port.submitted:
        assert len(batch.commands) == 1 or sum(text_size(c.arguments) for c in batch.commands) <= BATCH_TEXT


def test_the_text_of_a_command_is_counted_however_deep_it_lies() -> None:
    assert text_size({"a": "12", "b": {"c": ["345", b"67", {"d": "8"}]}, "n": 10**9, "none": None}) == 8


def test_who_waits_until_all_is_stored_waits_for_no_more_than_came_before(desk: Desk) -> None:
    desk.write(1)
    stored = desk.writer.request(AwaitStored())
    desk.write(2)
    desk.settle()
    desk.write(3)
    desk.settle()
    assert not stored.done
    desk.port.answer()
    desk.settle()
    assert stored.get() is None
    assert desk.tags == [1, 2]
    assert desk.writer.request(AwaitStored()).done is False
    desk.answer_all()


# -- failures --------------------------------------------------------------------------------------


def test_a_batch_that_was_under_way_is_submitted_again_as_the_same_and_answered_once(desk: Desk) -> None:
    desk.write(1)
    desk.write(2)
    desk.settle()
    desk.writer.kill()
    desk.write(3)
    desk.settle()
    first, again = (batch for batch, _ in desk.port.submitted)
    assert again == first
    desk.port.answer(0)  # the answer to the submission of the life before
    desk.settle()
    assert desk.tags == []
    desk.port.answer(1)
    desk.settle()
    desk.port.answer(1)
    desk.settle()
    assert desk.tags == [1, 2]
    desk.port.answer()
    desk.settle()
    assert desk.tags == [1, 2, 3]


def test_a_port_that_breaks_once_loses_no_command(desk: Desk) -> None:
    desk.port.breaks = 1
    desk.write(1)
    stored = desk.writer.request(AwaitStored())
    desk.settle()
    assert [batch.number for batch, _ in desk.port.submitted] == [1]
    desk.answer_all()
    assert desk.tags == [1]
    assert stored.done


class _Broken:
    """A sender that cannot be told anything."""

    def tell(self, message: Any) -> None:
        raise RuntimeError("cannot be told")


def test_a_sender_that_cannot_be_told_costs_no_other_its_answer(desk: Desk) -> None:
    broken: Any = _Broken()
    desk.write(1)
    desk.writer.tell(Write("note", {}, broken, 2))
    desk.write(3)
    desk.answer_all()
    assert desk.tags == [1, 3]
    assert desk.sizes == [3]
    desk.write(4)
    desk.answer_all()
    assert desk.tags == [1, 3, 4]


def test_a_batch_that_comes_back_with_too_few_answers_is_answered_as_faulty(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.write(1)
    desk.write(2)
    desk.settle()
    desk.port.submitted[-1][1]([Answer(1, None)])
    desk.settle()
    assert [told.answer.error for told in desk.heard] == ["fault", "fault"]
    assert "2 commands got 1" in caplog.text


@pytest.mark.parametrize("seed", range(30))
def test_a_writer_that_is_killed_at_any_moment_stores_and_answers_everything_once(
    open_stage: OpenStage, seed: int
) -> None:
    stage = open_stage(seed)
    calls = [stage.begin("create_session", text=f"no {n}", wait_seconds=0) for n in range(4)]
    run = stage.fan_out(["a", "b", "c"], jobs=2)
    for _ in range(INTENSITY.restarts - 1):
        for _ in range(stage.random.randrange(1, 40)):
            stage.dispatcher.step()
        _writer(stage).kill()
    run.work()
    assert all(call.get()["ok"] for call in calls)
    assert run.recorded == dict.fromkeys("abc", "done")
    counts = stage.read("counts")
    assert (counts["sessions"], counts["queued"], counts["handed"]) == (7, 0, 0)
    assert len({turn.turn for turn in stage.workers.runs}) == len(stage.workers.runs) == 7
    stage.close()


def _writer(stage: Stage) -> ActorRef[Any]:
    actor: Any = stage.supervisor._actor
    ref: ActorRef[Any] = actor._writer
    return ref


# -- the end for good ------------------------------------------------------------------------------


def _fail_for_good(stage: Stage) -> None:
    for _ in range(INTENSITY.restarts + 1):
        _writer(stage).kill()
        stage.settle()


def test_a_writer_that_fails_for_good_leaves_nobody_waiting_and_the_relay_can_be_closed(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    session, first = stage.create("runs")
    waiting = stage.begin("wait", session=session, message_id=first, wait_seconds=600)
    run = stage.fan_out(["a", "b"], jobs=1)
    stage.settle()
    stage.store.hold()
    late = [stage.begin("create_session", text="late", wait_seconds=600)]
    late.append(stage.begin("send", session=session, text="late", wait_seconds=600))
    stage.settle()
    _fail_for_good(stage)
    assert [call.get()["code"] for call in late] == ["REMOTE_RELAY_STORAGE"] * 2
    assert waiting.get()["status"] == "running"  # as the store has it
    (error,) = run.heard.ends
    assert "failed for good" in str(error)
    assert {stop.turn for stop in stage.workers.stops} == {turn.turn for turn in stage.workers.runs}
    assert stage.awake == []
    for action in ("list_sessions", "create_session"):
        refused = stage.call(action, **({"text": "more"} if action == "create_session" else {}))
        assert refused["code"] == "REMOTE_RELAY_STORAGE"
        assert "open it again" in refused["error"]
    assert "nothing can be stored any more" in caplog.text
    caplog.clear()
    stage.close()


def test_a_close_that_waits_for_the_writer_ends_with_it(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.create("runs")
    stage.store.hold()
    closing = stage.ask_close()
    stage.settle()
    assert not closing.done
    _fail_for_good(stage)
    assert closing.get() is None
    caplog.clear()


def test_a_writer_that_fails_for_good_while_the_relay_starts_refuses_what_waits_for_the_start(
    open_stage: OpenStage, caplog: pytest.LogCaptureFixture
) -> None:
    stage = open_stage(settled=False)
    stage.store.hold()
    ready = stage.supervisor.request(AwaitReady())
    call = stage.begin("create_session", text="early", wait_seconds=0)
    stage.settle()
    _fail_for_good(stage)
    assert call.get()["code"] == "REMOTE_RELAY_STORAGE"
    with pytest.raises(Exception, match="failed for good"):
        ready.get()
    caplog.clear()
    stage.close()
