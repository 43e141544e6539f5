"""What sessions are ordered: stop, go on, be killed, archived or deleted; and how long a turn may take."""

from typing import Any

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.settings import Settings
from showcaller.actors.relay.messages import (
    Archive,
    Delete,
    GoOn,
    IfAwake,
    Kill,
    Look,
    PutAway,
    Repeated,
    Stopped,
    StopRunning,
    ToSession,
    Wake,
    WriteId,
)
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

CALL = WriteId("", "call-1", "f")


def order(stage: Stage, session: str, what: Any) -> Any:
    """Give a session an order, and its answer; a refusal is given, not raised."""
    answer = stage.supervisor.request(ToSession(session, what))
    stage.settle()
    try:
        return answer.get()
    except Refusal as refusal:
        return refusal


def held_at(stage: Stage, session: str) -> int | None:
    found: int | None = stage.read("load_session", session=session)["held_at"]
    return found


# -- stopping --------------------------------------------------------------------------------------


def test_a_stop_is_answered_once_its_hold_is_stored(stage: Stage) -> None:
    session, first = stage.create()
    stage.store.hold()
    stopped = stage.supervisor.request(ToSession(session, StopRunning()))
    stage.settle()
    assert [stop.turn for stop in stage.workers.stops] == [first]
    assert not stopped.done
    stage.store.release()
    stage.settle()
    assert stopped.get() == Stopped(requested=True)
    assert held_at(stage, session) is not None


def test_what_a_stop_holds_stays_held_over_a_restart_until_its_owner_says_so(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, _ = stage.create()
    second = stage.send(session, "second")
    order(stage, session, StopRunning())
    again = stage.again()
    assert (again.status(second), again.workers.runs) == ("queued", [])
    assert order(again, session, Wake()) is None
    assert again.workers.runs == []
    assert again.awake == []
    assert order(again, session, GoOn()) is True
    assert again.workers.texts == ["second"]
    assert held_at(again, session) is None


def test_a_message_of_the_owner_releases_what_is_held_for_good(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, _ = stage.create()
    stage.send(session, "second")
    order(stage, session, StopRunning())
    stage.send(session, "third")
    assert stage.workers.texts == ["first", "second"]
    assert held_at(stage, session) is None
    again = stage.again()
    assert again.workers.texts == ["third"]


def test_a_stop_that_cannot_be_stored_ends_the_turn_all_the_same_and_says_so(stage: Stage) -> None:
    session, first = stage.create()
    second = stage.send(session, "second")
    stage.store.refusing = frozenset({"hold_queue"})
    refusal = order(stage, session, StopRunning())
    assert refusal.code is Code.STORAGE
    assert "asked to stop" in refusal.error
    assert "disk is full" in refusal.error
    assert (stage.status(first), stage.status(second)) == ("stopped", "queued")
    assert stage.awake == [session]  # that it is held is known here alone
    stage.store.refusing = frozenset()
    stage.close()
    again = Stage(stage.home)
    assert again.workers.runs == []
    assert again.status(second) == "queued"


@pytest.mark.parametrize("ended_first", [True, False])
@pytest.mark.parametrize("away", [Archive(), Delete()])
def test_a_stop_that_could_not_be_stored_keeps_no_session_awake_that_was_put_away(
    stage: Stage, away: Archive | Delete, ended_first: bool
) -> None:
    session, first = stage.create()
    second = stage.send(session, "second")
    if ended_first:
        stage.workers.end(first)
        stage.settle()
    stage.store.refusing = frozenset({"hold_queue"})
    assert order(stage, session, StopRunning()).code is Code.STORAGE
    stage.store.refusing = frozenset()
    assert isinstance(order(stage, session, away), PutAway)
    assert stage.awake == []
    found = stage.call("wait", session=session, message_id=second, wait_seconds=0)
    assert found["status"] == ("stopped" if ended_first else "cancelled")


def test_a_stop_that_could_not_be_stored_keeps_no_session_awake_in_which_nothing_waits(stage: Stage) -> None:
    session, first = stage.create()
    stage.store.refusing = frozenset({"hold_queue"})
    assert order(stage, session, StopRunning()).code is Code.STORAGE
    assert stage.status(first) == "stopped"
    assert stage.awake == []


def test_a_stop_that_fails_after_its_session_was_put_away_keeps_nothing_awake(stage: Stage) -> None:
    session, first = stage.create()
    stage.workers.end(first)
    stage.settle()
    stage.store.refusing = frozenset({"accept_message"})
    stage.store.hold()
    archived = stage.supervisor.request(ToSession(session, Archive()))
    stage.settle()
    stage.begin("send", session=session, text="late", wait_seconds=0)
    stage.settle()
    stage.supervisor.request(ToSession(session, StopRunning()))
    stage.settle()
    stage.store.release()
    stage.settle()
    assert isinstance(archived.get(), PutAway)
    assert stage.awake == []


def test_to_go_on_that_cannot_be_stored_is_refused_and_the_queue_stays(stage: Stage) -> None:
    session, _ = stage.create()
    stage.send(session, "second")
    order(stage, session, StopRunning())
    stage.store.refusing = frozenset({"release_queue"})
    assert order(stage, session, GoOn()).code is Code.STORAGE
    assert stage.workers.texts == ["first"]
    stage.store.refusing = frozenset()
    assert order(stage, session, GoOn()) is True
    assert order(stage, session, GoOn()) is False, "nothing holds it any more"
    assert stage.workers.texts == ["first", "second"]


def test_who_waits_for_a_held_message_goes_on_waiting(stage: Stage) -> None:
    session, _ = stage.create()
    call = stage.begin("send", session=session, text="second", wait_seconds=600)
    stage.settle()
    order(stage, session, StopRunning())
    assert not call.done
    assert stage.awake == [session]
    stage.advance(601)
    assert call.get()["status"] == "queued"
    assert stage.awake == []


def test_a_stop_with_nothing_under_way_holds_nothing_and_says_so(stage: Stage) -> None:
    session, first = stage.create()
    stage.workers.end(first)
    stage.settle()
    assert order(stage, session, StopRunning()) == Stopped(requested=False)
    assert held_at(stage, session) is None
    assert stage.awake == []


@pytest.mark.parametrize("running", [True, False])
def test_a_repeat_of_a_stop_gives_the_first_result(stage: Stage, running: bool) -> None:
    session, first = stage.create()
    if not running:
        stage.workers.end(first)
        stage.settle()
    assert order(stage, session, StopRunning(call=CALL)) == Stopped(requested=running)
    assert order(stage, session, StopRunning(call=CALL)) == Repeated({"requested": running, "waiting": 0})


# -- killing ---------------------------------------------------------------------------------------


def test_a_kill_ends_the_turn_and_the_agents_process_and_holds_the_queue(stage: Stage) -> None:
    session, first = stage.create()
    second = stage.send(session, "second")
    assert order(stage, session, Kill()) == Stopped(requested=True, waiting=1)
    assert [kill.session for kill in stage.workers.kills] == [session]
    assert [stop.turn for stop in stage.workers.stops] == [first]
    assert (stage.status(first), stage.status(second)) == ("stopped", "queued")


# -- how long a turn may ---------------------------------------------------------------------------


def test_a_turn_that_takes_too_long_fails_and_the_queue_goes_on(open_stage: OpenStage) -> None:
    stage = open_stage(settings=Settings(max_turn_minutes=5))
    session, first = stage.create()
    call = stage.begin("wait", session=session, message_id=first, wait_seconds=600)
    second = stage.send(session, "second")
    stage.advance(299)
    assert stage.workers.stops == []
    stage.advance(2)
    assert [stop.turn for stop in stage.workers.stops] == [first]
    assert (call.get()["status"], call.get()["stopReason"]) == ("failed", "timeout")
    assert "max_turn_minutes" in call.get()["errorText"]
    assert list(stage.workers.open) == [second]
    assert held_at(stage, session) is None
    assert ("error", first) in stage.events(session)
    stage.advance(301)
    assert stage.status(second) == "failed"


def test_no_timer_outlives_its_turn_and_none_is_set_for_attempts_of_a_fan_out_or_without_a_limit(
    open_stage: OpenStage,
) -> None:
    stage = open_stage(settings=Settings(max_turn_minutes=10))
    session, first = stage.create()
    stage.workers.end(first)
    stage.settle()
    stage.advance(599)
    second = stage.send(session, "second")
    run = stage.fan_out(["a"])
    stage.settle()
    stage.advance(10)
    assert stage.workers.stops == []
    stage.workers.end(second)
    stage.settle()
    stage.advance(6000)
    assert stage.workers.stops == []
    run.work()
    assert run.recorded == {"a": "done"}
    unbounded = stage.again()
    unbounded.ports.in_force.change("max_turn_minutes", 0)
    unbounded.create()
    unbounded.advance(1_000_000)
    assert unbounded.workers.stops == []


# -- archiving and deleting ------------------------------------------------------------------------


@pytest.mark.parametrize("what", [Archive(), Delete()])
def test_a_session_that_works_is_not_put_away(stage: Stage, what: Any) -> None:
    session, first = stage.create()
    second = stage.send(session, "second")
    assert order(stage, session, what).code is Code.BUSY
    stage.workers.end(first)
    stage.settle()
    assert order(stage, session, what).code is Code.BUSY
    stage.workers.end(second)
    stage.settle()
    assert order(stage, session, what) == PutAway()
    assert stage.awake == []


@pytest.mark.parametrize("what", [Archive(), Delete()])
def test_what_waits_in_a_session_that_is_put_away_is_cancelled_and_who_waits_hears_of_it(
    stage: Stage, what: Any
) -> None:
    session, _ = stage.create()
    call = stage.begin("send", session=session, text="second", wait_seconds=600)
    stage.settle()
    order(stage, session, StopRunning())
    put_away = order(stage, session, what)
    assert call.get()["status"] == "cancelled"
    assert put_away == PutAway((call.get()["message_id"],))
    assert stage.awake == []
    refused = stage.call("send", session=session, text="third")
    assert refused["code"] == "REMOTE_RELAY_NOT_FOUND"
    assert stage.workers.texts == ["first"]


def test_a_deleted_session_takes_nothing_any_more_while_it_is_awake_or_when_it_is_woken(stage: Stage) -> None:
    session, first = stage.create()
    stage.workers.end(first)
    stage.settle()
    answers = [stage.supervisor.request(ToSession(session, what)) for what in (Delete(), Wake(), GoOn())]
    stage.settle()
    assert answers[0].get() == PutAway()
    assert order(stage, session, Delete()).code is Code.NOT_FOUND
    assert order(stage, session, StopRunning()).code is Code.NOT_FOUND
    assert stage.awake == []


def test_a_stop_right_behind_a_deletion_holds_nothing_and_lets_the_session_sleep(stage: Stage) -> None:
    session, _ = stage.create()
    second = stage.send(session, "second")
    order(stage, session, StopRunning())
    stage.store.hold()
    orders = [stage.supervisor.request(ToSession(session, what)) for what in (Delete(), StopRunning())]
    stage.settle()
    stage.store.release()
    waiting = stage.begin("wait", session=session, message_id=second, wait_seconds=0)
    stage.settle()
    assert orders[0].get() == PutAway((second,))
    with pytest.raises(Refusal, match="deleted"):
        orders[1].get()
    assert waiting.get()["status"] == "cancelled"
    assert stage.awake == []


@pytest.mark.parametrize("kind", [Archive, Delete])
def test_a_repeat_of_putting_away_gives_the_first_result(stage: Stage, kind: Any) -> None:
    session, first = stage.create()
    stage.workers.end(first)
    stage.settle()
    answers = [stage.supervisor.request(ToSession(session, kind(CALL))) for _ in range(2)]
    stage.settle()
    assert answers[0].get() == PutAway()
    assert answers[1].get() == Repeated({"cancelled": []})


@pytest.mark.parametrize("seed", range(20))
def test_a_prompt_that_races_with_putting_away_runs_or_is_cancelled(open_stage: OpenStage, seed: int) -> None:
    stage = open_stage(seed)
    session, first = stage.create()
    stage.workers.end(first)
    for _ in range(stage.random.randrange(20)):
        stage.dispatcher.step()
    sent = stage.begin("send", session=session, text="second", wait_seconds=60)
    put_away = stage.supervisor.request(ToSession(session, stage.random.choice([Archive(), Delete()])))
    stage.settle()
    stage.advance(61)
    result = sent.get()
    if stage.workers.texts == ["first", "second"]:
        assert result["status"] == "running"
        with pytest.raises(Refusal, match="working"):
            put_away.get()
    else:
        assert isinstance(put_away.get(), PutAway)
        assert result["code" if not result["ok"] else "status"] in {"REMOTE_RELAY_NOT_FOUND", "cancelled"}
        assert stage.awake == []


def test_a_look_tells_that_the_queue_is_held(stage: Stage) -> None:
    session, _ = stage.create()
    stage.workers.obedient = False
    order(stage, session, StopRunning())
    glance = stage.supervisor.request(IfAwake(session, Look()))
    stage.settle()
    assert glance.get().held
    assert glance.get().phase == "stopping"


def test_what_became_of_the_prompts_of_a_deleted_session_is_told_while_it_is_awake(stage: Stage) -> None:
    session, first = stage.create()
    stage.workers.end(first, reply="done")
    stage.settle()
    stage.store.hold()
    deleted = stage.supervisor.request(ToSession(session, Delete()))
    stage.settle()
    stopped = stage.supervisor.request(ToSession(session, StopRunning(call=CALL)))  # keeps it awake
    stage.settle()
    stage.store.release_first()
    waiting = stage.begin("wait", session=session, message_id=first, wait_seconds=0)
    look = stage.supervisor.request(IfAwake(session, Look()))
    stage.settle()
    assert deleted.done
    assert stage.awake == [session]
    assert not stopped.done
    assert waiting.get()["status"] == "done"
    assert look.get() is None
