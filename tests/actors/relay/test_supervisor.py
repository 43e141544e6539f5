"""Starting, recovering and closing: nothing is lost, nothing runs twice, and everybody gets an answer."""

from typing import Any

import pytest

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.worker import TurnEnded
from showcaller.actors.relay.messages import AwaitReady, Close, ToSession
from showcaller.actors.relay.pauses import FIRST_PAUSE
from showcaller.store.errors import StoreDamaged
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

# -- recovery --------------------------------------------------------------------------------------


def test_what_was_handed_over_is_interrupted_and_what_waited_runs_in_order(stage: Stage) -> None:
    session, first = stage.create("first")
    second, third = stage.send(session, "second"), stage.send(session, "third")
    other, fourth = stage.create("fourth")
    again = stage.again()
    assert [again.status(message) for message in (first, fourth)] == ["interrupted", "interrupted"]
    assert "in part" in again.read("message", message=first)["error_text"]
    assert [event for event, _ in again.events(other)] == ["turn_started", "error"]
    assert again.workers.texts == ["second"]
    again.workers.end(second)
    again.settle()
    again.workers.end(third)
    again.settle()
    assert again.workers.texts == ["second", "third"]
    assert again.awake == []
    again.close()


def test_calls_that_come_before_the_relay_is_ready_wait_for_it(open_stage: OpenStage) -> None:
    stage = open_stage(3, settled=False)
    call = stage.begin("create_session", text="early", wait_seconds=0)
    stage.settle()
    assert call.get()["status"] in {"queued", "running"}
    assert stage.workers.texts == ["early"]


@pytest.mark.parametrize("seed", range(10))
def test_the_relay_dies_at_any_batch_and_no_prompt_is_lost_or_run_twice(
    open_stage: OpenStage, seed: int
) -> None:
    for cut in range(1, 9):
        stage = open_stage(seed)
        stage.store.crash_at = stage.store.batches + cut
        stage.store.crash_commits = bool(seed % 2)
        calls = [stage.begin("create_session", text=f"{cut}.{n}", wait_seconds=0) for n in range(2)]
        stage.settle()
        accepted = [call.get() for call in calls if call.done and call.get()["ok"]]
        if accepted:
            session = accepted[0]["session"]
            calls = [stage.begin("send", session=session, text=f"{cut}.{n}", wait_seconds=0) for n in (2, 3)]
        for turn in list(stage.workers.open):
            stage.workers.end(turn)
            stage.settle()
        accepted += [call.get() for call in calls if call.done and call.get()["ok"]]
        second = stage.again(seed)
        while second.workers.open:
            second.workers.end(next(iter(second.workers.open)))
            second.settle()
        ran = [run.turn for run in (*stage.workers.runs, *second.workers.runs)]
        assert len(ran) == len(set(ran)), "handed over twice"
        for message in {result["message_id"] for result in accepted}:
            assert second.status(message) in {"done", "interrupted"}
            assert message in ran or second.status(message) == "interrupted"
        assert second.read("counts")["queued"] == second.read("counts")["handed"] == 0
        second.close()


def test_a_store_that_fails_at_the_start_refuses_every_call_with_the_reason_and_lets_itself_be_closed(
    open_stage: OpenStage,
) -> None:
    stage = open_stage(settled=False)
    stage.store.refusing = frozenset({"open_relay"})
    stage.settle()
    ready = stage.supervisor.request(AwaitReady())
    stage.settle()
    with pytest.raises(Refusal, match="disk is full"):
        ready.get()
    assert stage.call("create_session", text="go")["code"] == "REMOTE_RELAY_STORAGE"
    with stage.dispatcher:
        stage.door.close()


def test_an_outbox_that_cannot_be_read_refuses_every_call_with_the_reason(open_stage: OpenStage) -> None:
    stage = open_stage(settled=False)
    stage.reader.failing["unfinished"] = StoreDamaged("relay.db", "its content is damaged")
    stage.settle()
    refused = stage.call("create_session", text="go")
    assert refused["code"] == "REMOTE_RELAY_STORAGE"
    assert "relay.db" in refused["error"]


# -- close -----------------------------------------------------------------------------------------


def test_a_close_interrupts_what_runs_stores_that_and_leaves_what_waits(stage: Stage) -> None:
    session, first = stage.create("first")
    second = stage.send(session, "second")
    stage.workers.on_run = lambda run: None
    stage.close()
    assert [stop.turn for stop in stage.workers.stops] == [first]
    again = Stage(stage.home)
    assert again.status(first) == "interrupted"
    assert again.workers.texts == ["second"]
    again.workers.end(second)
    again.close()


def test_whoever_waits_when_the_relay_closes_gets_an_answer(stage: Stage) -> None:
    session, first = stage.create("first")
    running = stage.begin("wait", session=session, message_id=first, wait_seconds=600)
    queued = stage.begin("send", session=session, text="second", wait_seconds=600)
    stage.settle()
    stage.close()
    assert (running.get()["status"], running.get()["stopReason"]) == ("failed", "interrupted")
    assert queued.get()["ok"]
    assert queued.get()["status"] == "queued"
    assert stage.dispatcher.manual_clock.monotonic() < 1


@pytest.mark.parametrize("seed", range(40))
def test_closed_at_any_moment_every_call_is_answered_and_every_accepted_prompt_is_kept(
    open_stage: OpenStage, seed: int
) -> None:
    stage = open_stage(seed)
    session, _ = stage.create("first")
    calls = [stage.begin("create_session", text=f"new {n}", wait_seconds=60) for n in range(3)]
    calls += [stage.begin("send", session=session, text=f"more {n}", wait_seconds=60) for n in range(3)]
    run = stage.fan_out(["a", "b", "c", "d"], jobs=2)
    for _ in range(stage.random.randrange(160)):
        stage.dispatcher.step()
    stage.close()
    assert all(call.done for call in calls)
    told = [call.get() for call in calls]
    for result in told:
        assert result["ok"] or result["code"] == "REMOTE_RELAY_UNAVAILABLE"
    if run.heard.ends == [None]:
        assert len(run.heard.by_item) == 4
        assert set(run.heard.statuses.values()) <= {"skipped", "interrupted"}
    second = open_stage(seed)
    assert second.read("counts")["handed"] == len(second.workers.open)
    begun = run.heard.total is not None or bool(second.read("counts")["fanouts"])
    again = second.resume(run.group) if begun else None
    if again is None:
        while second.workers.open:
            second.workers.end(next(iter(second.workers.open)))
            second.settle()
    else:
        again.work()
        assert again.recorded == dict.fromkeys("abcd", "done")
    for result in told:
        if result["ok"]:
            assert second.status(result["message_id"]) in {"done", "interrupted"}
    ran = [turn.turn for turn in (*stage.workers.runs, *second.workers.runs)]
    assert len(ran) == len(set(ran))


def test_a_fan_out_that_a_close_cuts_is_not_recorded_so_that_a_later_run_takes_it_up(
    open_stage: OpenStage,
) -> None:
    stage = open_stage()
    run = stage.fan_out(["a", "b", "c"], jobs=2)
    stage.settle()
    stage.close()
    assert run.heard.statuses == {"a": "interrupted", "b": "interrupted", "c": "skipped"}
    assert run.heard.ends == [None]
    second = open_stage()
    again = second.resume(run.group)
    again.work()
    assert again.recorded == dict.fromkeys("abc", "done")


def test_a_close_gives_up_on_a_store_that_keeps_refusing(stage: Stage) -> None:
    session, first = stage.create("first")
    stage.send(session, "second")
    stage.store.refusing = frozenset({"end_turn"})
    stage.close()
    assert stage.dispatcher.manual_clock.monotonic() < 10 * FIRST_PAUSE
    again = Stage(stage.home)
    assert again.status(first) == "interrupted"
    again.close()


def test_a_close_takes_back_what_no_worker_has_seen(stage: Stage) -> None:
    stage.store.hold()
    call = stage.begin("create_session", text="first", wait_seconds=60)
    stage.settle()
    closing = stage.ask_close()
    stage.settle()
    stage.store.release()
    stage.settle()
    assert closing.done
    assert "take_back" in stage.store.commands
    assert stage.workers.runs == []
    assert call.get()["status"] == "queued"
    again = stage.again()
    assert again.workers.texts == ["first"]
    again.close()


def test_after_a_close_every_call_is_refused_and_another_close_is_harmless(stage: Stage) -> None:
    stage.close()
    assert stage.begin("list_sessions").get()["code"] == "REMOTE_RELAY_UNAVAILABLE"
    with pytest.raises(Refusal, match="closed"):
        stage.door.list_fanouts()
    with pytest.raises(Refusal, match="closed"):
        stage.door.resume_fanout("grp_1", rerun=True, jobs=None)
    with stage.dispatcher:
        stage.supervisor.ask(Close())


# -- for reading only ------------------------------------------------------------------------------


def test_a_relay_for_reading_shows_all_and_changes_nothing(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, first = stage.create("first")
    second = stage.send(session, "second")
    third = stage.create("third")
    stage.workers.end(third[1], reply="3")
    stage.settle()
    reader = open_stage(read_only=True)
    assert reader.call("list_sessions")["sessions"][0]["id"] in {session, third[0]}
    assert reader.call("read_session", session=session)["state"] == "running_turn"
    statuses = {
        message: reader.call("wait", session=owner, message_id=message, wait_seconds=0)["status"]
        for owner, message in ((session, first), (session, second), third)
    }
    assert statuses == {first: "running", second: "queued", third[1]: "done"}
    for refused in (
        reader.call("send", session=session, text="no"),
        reader.call("create_session", text="no"),
    ):
        assert refused["code"] == "REMOTE_RELAY_STORAGE"
        assert "reading only" in refused["error"]
    run = reader.fan_out(["a"])
    reader.settle()
    with pytest.raises(Refusal, match="reading only"):
        run.ref.get()
    with reader.dispatcher:
        reader.door.close()


def test_what_workers_say_is_spread_to_the_sessions_though_one_of_them_is_gone(stage: Stage) -> None:
    gone, message = stage.create("gone")
    _, second = stage.create("other")
    actor: Any = stage.supervisor._actor
    actor.directory.find(gone).stop(block=False)
    stage.settle()
    runs = [stage.workers.run_of(turn) for turn in (message, second)]
    stage.workers.say(*(TurnEnded(session=run.session, turn=run.turn, outcome="done") for run in runs))
    stage.settle()
    assert stage.status(second) == "done"
    assert stage.awake == [gone]


def test_whoever_asks_for_what_nobody_knows_gets_an_answer(stage: Stage) -> None:
    session, message = stage.create()
    asked = [stage.supervisor.request("what?"), stage.supervisor.request(ToSession(session, "what?"))]
    stage.settle()
    for answer in asked:
        with pytest.raises(TypeError, match="takes no str"):
            answer.get()
    assert stage.status(message) == "handed"
