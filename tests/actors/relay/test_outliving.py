"""Turns at workers that outlive their relay: what the next relay makes of them, and of a worker's death."""

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from showcaller.actors.contract.fates import Left, fate_of
from showcaller.actors.contract.worker import RunTurn, TurnEnded, TurnReturned
from showcaller.actors.relay import turn_effects
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.messages import Close
from showcaller.actors.relay.recovery import fate_command
from showcaller.actors.relay.turn_state import WORKER_GONE
from tests.actors.relay.stage import Stage
from tests.actors.relay.test_turn import FIRST, SECOND, ended, running

WORKER = "wrk_000000000007"


class Workforce:
    """Knows of workers what the test has it know."""

    def __init__(self, *alive: str, left: Mapping[str, Left] | None = None) -> None:
        self.alive: tuple[str, ...] = alive or (WORKER,)
        self.left = left or {}
        self.asked: list[RunTurn] = []
        self.expected: list[str] = []
        self.has_recovered = False
        self.going_on: list[str] = []

    def place(self, session: str) -> str | None:
        return self.alive[0] if self.alive else None

    def ask_again(self, run: RunTurn) -> bool:
        self.asked.append(run)
        return True

    def expect_task(self, session: str, task: str, worker: str) -> bool:
        self.expected.append(task)
        return self.has(worker)

    def recovered(self, going_on: Collection[str]) -> None:
        self.has_recovered = True
        self.going_on += going_on

    def has(self, worker: str) -> bool:
        return worker in self.alive

    def left_by(self, worker: str) -> Left | None:
        return self.left.get(worker)


class Dying(Workforce):
    """Has its worker die once the relay, at its start, has seen it there."""

    def __init__(self, left: Mapping[str, Left]) -> None:
        super().__init__("wrk_000000000008", left=left)

    def has(self, worker: str) -> bool:
        return super().has(worker) or worker == WORKER

    def ask_again(self, run: RunTurn) -> bool:
        return False


def with_a_turn(home: Path) -> tuple[Stage, str, str]:
    """A relay with a turn at the worker, and its session and message."""
    stage = Stage(home, outliving=Workforce())
    session, message = stage.create("running")
    assert stage.read("message", message=message)["worker"] == WORKER
    stage.workers.take(message)
    return stage, session, message


def next_relay(home: Path, workforce: Workforce | None = None) -> Stage:
    """Start another relay; its worker has heard what it was asked."""
    known = Workforce() if workforce is None else workforce
    stage = Stage(home, outliving=known)
    assert known.has_recovered
    stage.workers.send(known.asked)
    return stage


# -- the next relay --------------------------------------------------------------------------------


def test_a_turn_whose_worker_is_there_is_asked_for_and_ends_as_if_nothing_had_been(tmp_path: Path) -> None:
    stage, session, message = with_a_turn(tmp_path)
    stage.drop()
    workforce = Workforce("wrk_000000000008", WORKER)
    stage = next_relay(tmp_path, workforce)
    assert [run.turn for run in stage.workers.runs] == [message]
    assert ([run.worker for run in workforce.asked], workforce.going_on) == ([WORKER], [message])
    assert stage.status(message) == "handed"
    assert stage.call("read_session", session=session)["state"] == "running_turn"
    waiting = stage.begin("wait", session=session, message_id=message, wait_seconds=60)
    stage.settle()
    stage.workers.end(message, reply="all of it")
    stage.settle()
    assert waiting.get()["reply"]["text"] == "all of it"
    assert [kind for kind, _ in stage.events(session)] == ["turn_started", "turn_end"]
    assert [stored.turn for stored in stage.workers.stored] == [message]


@pytest.mark.parametrize("seen", [False, True], ids=["with the relay", "while the next one starts"])
@pytest.mark.parametrize(
    ("left", "status", "kinds"),
    [
        pytest.param("nothing", "interrupted", ["turn_started", "error"], id="its worker is unknown"),
        pytest.param("receipt", "interrupted", ["turn_started", "error"], id="a receipt and no end"),
        pytest.param("end", "done", ["turn_started", "turn_end"], id="an end that nobody has heard"),
        pytest.param("none", "handed", ["turn_started", "turn_started"], id="no receipt: it runs now"),
        pytest.param("lost", "interrupted", ["turn_started", "error"], id="no receipt, but the machine fell"),
    ],
)
def test_what_becomes_of_a_turn_whose_worker_died(
    tmp_path: Path, left: str, status: str, kinds: list[str], *, seen: bool
) -> None:
    stage, session, message = with_a_turn(tmp_path)
    stage.drop()
    end = TurnEnded(session=session, turn=message, outcome="done", reply="heard late")
    known: dict[str, dict[str, Left]] = {
        "nothing": {},
        "receipt": {WORKER: Left({message: None})},
        "end": {WORKER: Left({message: end})},
        "none": {WORKER: Left({})},
        "lost": {WORKER: Left({}, is_whole=False)},
    }
    dead = Workforce("wrk_000000000008", left=known[left])
    stage = next_relay(tmp_path, Dying(known[left]) if seen else dead)
    assert stage.status(message) == status
    assert [kind for kind, _ in stage.events(session)] == kinds
    if status == "done":
        assert stage.call("read_session", session=session)["messages"][-1]["text"] == "heard late"
    if status == "handed":
        assert stage.read("message", message=message)["worker"] == "wrk_000000000008"
        assert [run.turn for run in stage.workers.runs] == [message]


def test_the_fate_of_a_turn_is_told_from_what_its_worker_left() -> None:
    end = ended("msg_a", reply="text")
    assert fate_of("msg_a", None) == "unknown"
    assert fate_of("msg_a", Left({"msg_a": None})) == "unknown"
    assert fate_of("msg_a", Left({"msg_b": None})) == "untaken"
    assert fate_of("msg_a", Left({"msg_a": end})) == end


def test_a_turn_whose_receipt_may_have_been_lost_with_the_machine_may_have_run() -> None:
    end = ended("msg_a", reply="text")
    assert fate_of("msg_a", Left({}, is_whole=False)) == "unknown"
    assert fate_of("msg_a", Left({"msg_a": end}, is_whole=False)) == end


def test_the_fate_of_a_turn_is_stored_by_the_command_for_it() -> None:
    end = ended("msg_a", reply="text")
    assert fate_command("msg_a", "unknown", str, 5) is None
    assert fate_command("msg_a", "untaken", str, 5) == ("take_back", {"message": "msg_a"})
    stored = fate_command("msg_a", end, str, 5)
    assert stored is not None
    assert (stored.name, stored.arguments["status"], stored.arguments["at"]) == ("end_turn", "done", 5)


def test_the_queue_behind_a_turn_that_goes_on_waits_for_it(tmp_path: Path) -> None:
    stage, session, message = with_a_turn(tmp_path)
    second = stage.send(session, "second")
    stage.drop()
    stage = next_relay(tmp_path)
    assert [run.turn for run in stage.workers.runs] == [message]
    stage.workers.end(message)
    stage.settle()
    assert [run.turn for run in stage.workers.runs] == [message, second]


# -- leaving ---------------------------------------------------------------------------------------


def test_a_relay_that_leaves_interrupts_nothing_and_begins_nothing(tmp_path: Path) -> None:
    stage, session, message = with_a_turn(tmp_path)
    second = stage.send(session, "second")
    left = stage.supervisor.request(Close(leaves=True))
    stage.settle()
    assert left.done
    assert stage.workers.stops == []
    assert (stage.status(message), stage.status(second)) == ("handed", "queued")
    stage = next_relay(tmp_path)
    stage.workers.end(message)
    stage.settle()
    assert stage.status(message) == "done"
    assert [run.turn for run in stage.workers.runs] == [message, second]


def test_a_hand_over_that_is_under_way_when_the_relay_leaves_is_taken_back(tmp_path: Path) -> None:
    stage = Stage(tmp_path, outliving=Workforce())
    session, first = stage.create("first")
    stage.workers.end(first)
    stage.settle()
    stage.store.hold()
    begun = stage.begin("send", session=session, text="second", wait_seconds=0)
    stage.settle()  # the prompt and its hand-over are being stored
    left = stage.supervisor.request(Close(leaves=True))
    stage.settle()
    answered_early = left.done
    stage.store.release()
    stage.settle()
    assert (answered_early, left.done) == (False, True)
    message = begun.get()["message_id"]
    assert stage.status(message) == "queued"
    assert [run.turn for run in stage.workers.runs] == [first]


def test_closing_for_good_after_leaving_interrupts_what_runs(tmp_path: Path) -> None:
    stage, _, message = with_a_turn(tmp_path)
    closed = stage.supervisor.request(Close())
    stage.settle()
    assert closed.done
    assert stage.status(message) == "interrupted"


def test_a_fan_out_that_is_left_goes_on_with_the_next_relay(tmp_path: Path) -> None:
    stage = Stage(tmp_path, outliving=Workforce())
    run = stage.fan_out(["a", "b", "c"], jobs=2)
    stage.settle()
    at_work = list(stage.workers.open)
    assert len(at_work) == 2
    left = stage.supervisor.request(Close(leaves=True))
    stage.settle()
    assert left.done
    assert run.heard.ends
    assert stage.workers.stops == []
    stage = next_relay(tmp_path)
    again = stage.resume(run.group)
    stage.settle()
    assert [each.turn for each in stage.workers.runs] == at_work, "asked for, and nothing more begun"
    for turn in at_work:
        stage.workers.end(turn)
    stage.settle()
    for turn in list(stage.workers.open):
        stage.workers.end(turn)
    stage.settle()
    assert again.heard.statuses == {"a": "done", "b": "done", "c": "done"}
    assert again.heard.ends == [None]


# -- a worker that dies while the relay runs -------------------------------------------------------


def test_a_turn_that_its_dead_worker_never_had_waits_again_and_runs_at_another(tmp_path: Path) -> None:
    stage = Stage(tmp_path, outliving=(workforce := Workforce()))
    session, message = stage.create("first")
    waiting = stage.begin("wait", session=session, message_id=message, wait_seconds=60)
    stage.settle()
    workforce.alive = ("wrk_000000000009",)
    stage.workers.say(TurnReturned(session=session, turn=message))
    stage.settle()
    assert [run.turn for run in stage.workers.runs] == [message, message]
    assert stage.read("message", message=message)["worker"] == "wrk_000000000009"
    assert not waiting.done, "who waits for its end waits on"
    stage.workers.end(message, reply="at last")
    stage.settle()
    assert waiting.get()["reply"]["text"] == "at last"


def test_a_turn_is_sent_to_the_worker_that_is_stored_with_it_though_that_has_died_meanwhile(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, outliving=(workforce := Workforce()))
    stage.store.hold()
    begun = stage.begin("create_session", text="first", wait_seconds=0)
    stage.settle()
    stage.store.release()
    stage.store.hold()
    stage.settle()  # the hand-over is with the writer
    workforce.alive = ("wrk_000000000009",)
    stage.store.release()
    stage.settle()
    message = begun.get()["message_id"]
    assert stage.read("message", message=message)["worker"] == WORKER
    assert [(run.turn, run.worker) for run in stage.workers.runs] == [(message, WORKER)]


def test_a_prompt_waits_in_the_queue_while_there_is_no_worker(tmp_path: Path) -> None:
    stage = Stage(tmp_path, outliving=(workforce := Workforce()))
    workforce.alive = ()
    _, message = stage.create("first")
    assert (stage.status(message), stage.workers.runs) == ("queued", [])
    workforce.alive = (WORKER,)
    stage.advance(60)
    assert [(run.turn, run.worker) for run in stage.workers.runs] == [(message, WORKER)]


def test_the_end_of_a_turn_is_stored_though_there_is_no_worker_any_more(tmp_path: Path) -> None:
    stage = Stage(tmp_path, outliving=(workforce := Workforce()))
    _, message = stage.create("first")
    workforce.alive = ()
    stage.workers.end(message, reply="the last of it")
    stage.settle()
    assert stage.status(message) == "done"


def test_a_returned_turn_that_was_being_stopped_is_stopped() -> None:
    machine = running(SECOND)
    machine.feed(signals.Stop("stopped"))
    effects = machine.feed(signals.Returned(FIRST.id))
    assert [type(effect) for effect in effects] == [turn_effects.CommitEnd]
    assert machine.state.turn is not None
    assert machine.state.turn.end is not None
    assert machine.state.turn.end.outcome == "stopped"


@pytest.mark.parametrize("joining", [False, True], ids=["while it is taken back", "while what joins it is"])
def test_who_waits_for_a_returned_turn_hears_that_it_is_set_aside(*, joining: bool) -> None:
    machine = running()
    if joining:
        machine.feed(signals.Stored(SECOND, 0, steers=True))
        machine.feed(signals.SteerStored(SECOND.id))
    machine.feed(signals.Returned(FIRST.id))
    assert machine.feed(signals.Stop("interrupted", FIRST.id)) == ()
    if joining:
        machine.feed(signals.Unsteered(SECOND.id))
    effects = machine.feed(signals.TakenBack(FIRST.id))
    assert turn_effects.LookUp(FIRST.id) in effects
    assert turn_effects.CommitHandOver(FIRST) not in effects


def test_a_fan_out_ends_that_is_stopped_while_a_turn_of_it_is_taken_back(tmp_path: Path) -> None:
    stage = Stage(tmp_path, outliving=Workforce())
    run = stage.fan_out(["a"])
    stage.settle()
    (sent,) = stage.workers.runs
    stage.store.hold()
    stage.workers.say(TurnReturned(session=sent.session, turn=sent.turn))
    stage.settle()
    run.stop()
    stage.settle()
    stage.store.release()
    stage.settle()
    assert (run.heard.statuses, run.heard.ends) == ({"a": "skipped"}, [None])
    assert stage.status(sent.turn) == "queued"


@pytest.mark.parametrize("asked", [False, True], ids=["while it is being stored", "after it was sent"])
def test_a_returned_turn_waits_again_before_what_was_to_join_it(*, asked: bool) -> None:
    machine = running()
    machine.feed(signals.Stored(SECOND, 0, steers=True))
    if asked:
        machine.feed(signals.SteerStored(SECOND.id))
        assert machine.feed(signals.Returned(FIRST.id)) == (turn_effects.CommitUnsteer(SECOND.id),)
    else:
        assert machine.feed(signals.Returned(FIRST.id)) == ()
        assert machine.feed(signals.SteerStored(SECOND.id)) == (turn_effects.CommitUnsteer(SECOND.id),)
    assert machine.feed(signals.Unsteered(SECOND.id)) == (turn_effects.CommitTakeBack(FIRST.id),)
    assert machine.feed(signals.TakenBack(FIRST.id)) == (turn_effects.CommitHandOver(FIRST),)
    assert [waiting.id for waiting in machine.state.queue] == [SECOND.id]


def test_a_returned_turn_that_a_message_has_joined_is_interrupted_with_it() -> None:
    machine = running()
    machine.feed(signals.Stored(SECOND, 0, steers=True))
    machine.feed(signals.SteerStored(SECOND.id))
    machine.feed(signals.Steered(SECOND.id, FIRST.id, accepted=True))
    machine.feed(signals.SteerTaken(SECOND.id))
    machine.feed(signals.Returned(FIRST.id))
    assert machine.state.turn is not None
    assert machine.state.turn.end is not None
    assert machine.state.turn.end.error_text == WORKER_GONE
    announced = machine.feed(signals.EndStored(FIRST.id))
    ends = [effect.end for effect in announced if isinstance(effect, turn_effects.Announce)]
    assert {end.turn for end in ends} == {FIRST.id, SECOND.id}
    assert {end.stop_reason for end in ends} == {"interrupted"}


def test_a_returned_turn_that_a_closing_relay_has_cut_waits_for_the_next_relay() -> None:
    machine = running()
    assert machine.feed(signals.Stop("closing")) == (turn_effects.SendStop(FIRST.id),)
    assert machine.feed(signals.Returned(FIRST.id)) == (turn_effects.CommitTakeBack(FIRST.id),)
    assert machine.feed(signals.TakenBack(FIRST.id)) == (turn_effects.LookUp(FIRST.id),)
    assert [waiting.id for waiting in machine.state.queue] == [FIRST.id]
    assert machine.state.may_sleep


def test_a_late_return_changes_nothing() -> None:
    machine = running()
    machine.feed(signals.WorkerEnded(ended(FIRST.id)))
    assert machine.feed(signals.Returned(FIRST.id)) == ()
    assert machine.feed(signals.Returned("msg_of_nobody")) == ()
