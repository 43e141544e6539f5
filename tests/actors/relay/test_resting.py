"""Sessions that stay awake with nothing to do: which, how many, and that nothing is lost or stale by it."""

import pytest

from showcaller.actors.contract.errors import Code
from showcaller.actors.contract.worker import TaskStarted, TurnOutput
from showcaller.actors.relay.messages import Archive, Delete, IfAwake, LookFacts, ToSession, Wake
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    """A relay in which two sessions may rest."""
    return open_stage(resting=2)


def turn(stage: Stage, session: str, text: str = "again") -> None:
    message = stage.send(session, text)
    stage.workers.end(message)
    stage.settle()


def ended(stage: Stage, text: str = "first") -> str:
    session, message = stage.create(text)
    stage.workers.end(message)
    stage.settle()
    return session


def test_as_many_stay_awake_as_may_and_of_more_the_one_that_rests_longest_sleeps(stage: Stage) -> None:
    first, second = ended(stage), ended(stage)
    assert stage.awake == [first, second]
    turn(stage, first)
    third = ended(stage)
    assert stage.awake == [first, third], "the second had rested longest"
    turn(stage, second)
    assert stage.awake == [third, second]


def test_sessions_of_a_fan_out_rest_not_and_keep_no_other_from_it(stage: Stage) -> None:
    first, second = ended(stage), ended(stage)
    run = stage.fan_out(["a", "b", "c"], jobs=3)
    run.work()
    assert run.recorded == {"a": "done", "b": "done", "c": "done"}
    assert stage.awake == [first, second]
    of_an_item = stage.workers.runs[-1].session
    turn(stage, of_an_item)
    assert stage.awake == [second, of_an_item], "somebody has taken it up"


def test_a_prompt_for_one_that_rests_reads_nothing_of_the_store(stage: Stage) -> None:
    session = ended(stage)
    stage.reader.asked.clear()
    turn(stage, session)
    assert stage.reader.asked == []
    assert stage.workers.texts == ["first", "again"]


def test_to_ask_one_for_its_facts_is_no_reason_to_keep_it_awake(stage: Stage) -> None:
    first, second = ended(stage), ended(stage)
    asked = stage.supervisor.request(IfAwake(first, LookFacts()))
    stage.settle()
    assert asked.get().id == first
    third = ended(stage)
    assert stage.awake == [second, third]
    asked = stage.supervisor.request(IfAwake(first, LookFacts()))
    stage.settle()
    assert asked.get() is None, "it sleeps"


def test_one_that_is_being_loaded_knows_no_facts_yet(stage: Stage) -> None:
    session = ended(stage)
    stage = stage.again()
    stage.reader.hold()
    stage.supervisor.tell(ToSession(session, Wake()))
    stage.settle()
    asked = stage.supervisor.request(IfAwake(session, LookFacts()))
    stage.settle()
    assert asked.get() is None
    stage.reader.release()


def test_a_prompt_for_a_relay_that_closes_is_refused_though_its_session_rests(stage: Stage) -> None:
    session = ended(stage)
    closed = stage.ask_close()
    sent = stage.begin("send", session=session, text="more", wait_seconds=0)
    stage.settle()
    assert closed.done
    assert sent.get()["code"] == Code.UNAVAILABLE


def test_who_begins_something_while_it_is_told_to_sleep_stays_awake(stage: Stage) -> None:
    """A background task is told to the session past its supervisor."""
    first = ended(stage)
    ended(stage)
    _, message = stage.create("third")
    stage.workers.end(message)
    stage.workers.say(TaskStarted(session=first, task="1", type="command", description="a build"))
    stage.settle()
    assert first in stage.awake
    stage.workers.say(TurnOutput(session=first, turn=message, text="late"))
    turn(stage, first)
    assert first in stage.awake


@pytest.mark.parametrize("order", [Archive(), Delete()], ids=["archived", "deleted"])
def test_one_that_is_put_away_rests_no_more_and_takes_nothing(stage: Stage, order: Archive | Delete) -> None:
    session = ended(stage)
    put_away = stage.supervisor.request(ToSession(session, order))
    stage.settle()
    assert put_away.done
    assert stage.awake == []
    refused = stage.call("send", session=session, text="more", wait_seconds=0)
    assert refused["code"] == Code.NOT_FOUND


def test_a_prompt_that_comes_while_its_session_is_put_away_is_refused(stage: Stage) -> None:
    session = ended(stage)
    stage.store.hold()
    archived = stage.begin("archive", session=session)
    stage.settle()
    sent = stage.begin("send", session=session, text="more", wait_seconds=0)
    stage.settle()
    stage.store.release()
    stage.settle()
    assert archived.get()["ok"]
    assert sent.get()["code"] == Code.NOT_FOUND
    assert stage.workers.texts == ["first"]


def test_a_relay_that_closes_waits_for_none_that_rests(stage: Stage) -> None:
    ended(stage)
    closed = stage.ask_close()
    stage.settle()
    assert closed.done
    assert stage.awake == []


@pytest.mark.parametrize("seed", range(20))
def test_no_message_is_lost_between_sessions_that_rest_and_are_told_to_sleep(
    open_stage: OpenStage, seed: int
) -> None:
    """Messages come at every moment, for more sessions than may rest."""
    stage = open_stage(seed, resting=1)
    sessions = [ended(stage) for _ in range(3)]
    sent = []
    for number in range(15):
        if stage.workers.open:
            stage.workers.end(next(iter(stage.workers.open)))
        for _ in range(stage.random.randrange(25)):
            stage.dispatcher.step()
        session = stage.random.choice(sessions)
        sent.append(stage.begin("send", session=session, text=f"no {number}", wait_seconds=60))
    while not all(call.done for call in sent):
        stage.settle()
        for each in list(stage.workers.open):
            stage.workers.end(each)
        stage.settle()
    assert {call.get()["status"] for call in sent} == {"done"}
    assert len({run.turn for run in stage.workers.runs}) == len(stage.workers.runs) == 18
    assert len(stage.awake) == 1
