"""Messages that join the turn under way, from the send to the end that they share."""

from typing import Any

import pytest

from showcaller.actors.contract.provider_entries import ProviderCatalogue, ProviderEntry
from showcaller.actors.contract.worker import TurnSteered
from showcaller.actors.relay.messages import IfAwake, Look, StopRunning
from showcaller.actors.relay.pauses import FIRST_PAUSE
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

PROVIDERS = ProviderCatalogue(
    ProviderEntry("agent", "Agent", steers=True),
    ProviderEntry("plain", "Plain agent"),
)


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    """A relay whose agents take messages into their turns once they say so."""
    stage = open_stage(providers=PROVIDERS)
    stage.workers.on_steer = lambda _: None
    return stage


def create(stage: Stage, provider: str = "agent") -> tuple[str, str]:
    return stage.create("first", provider=provider)


def test_a_message_joins_the_running_turn_and_shares_its_end(stage: Stage) -> None:
    session, first = create(stage)
    call = stage.begin("send", session=session, text="and this", wait_seconds=60)
    stage.settle()
    (steer,) = stage.workers.steers
    assert (steer.turn, steer.text) == (first, "and this")
    assert stage.status(steer.message) == "handed"
    stage.workers.answer_steering(steer, accepted=True)
    stage.settle()
    assert stage.read("message", message=steer.message)["steer_taken"]
    stage.workers.end(first, reply="both")
    stage.settle()
    assert call.get()["status"] == "done"
    assert call.get()["reply"]["text"] == "both"
    assert stage.status(steer.message) == "done"
    assert [run.turn for run in stage.workers.runs] == [first]
    assert stage.awake == []


def test_a_message_is_not_shown_to_the_agent_before_that_is_stored(stage: Stage) -> None:
    session, _ = create(stage)
    stage.send(session, "one")
    stage.workers.steers.clear()
    other, _ = create(stage)
    stage.store.refusing = frozenset({"steer_message"})
    sent = stage.send(other, "two")
    assert stage.workers.steers == []
    assert stage.status(sent) == "queued"


def test_one_message_after_another_joins_in_the_order_of_their_acceptance(stage: Stage) -> None:
    session, first = create(stage)
    sent = [stage.send(session, text) for text in ("a", "b", "c")]
    assert [steer.message for steer in stage.workers.steers] == sent[:1]
    for number in range(3):
        stage.workers.answer_steering(stage.workers.steers[number], accepted=True)
        stage.settle()
    assert [steer.message for steer in stage.workers.steers] == sent
    stage.workers.end(first)
    stage.settle()
    assert [stage.status(message) for message in sent] == ["done"] * 3


def test_what_the_agent_does_not_take_waits_for_a_turn_of_its_own_and_nothing_passes_it(stage: Stage) -> None:
    session, first = create(stage)
    second, third = stage.send(session, "second"), stage.send(session, "third")
    stage.workers.answer_steering(stage.workers.steers[0], accepted=False)
    stage.settle()
    assert len(stage.workers.steers) == 1
    assert [stage.status(message) for message in (second, third)] == ["queued", "queued"]
    stage.workers.on_steer = stage.workers.refuse_steering
    for message in (first, second, third):
        stage.workers.end(message)
        stage.settle()
    assert stage.workers.texts == ["first", "second", "third"]


def test_what_the_agent_has_not_acknowledged_at_the_end_is_interrupted_and_not_repeated(stage: Stage) -> None:
    session, first = create(stage)
    call = stage.begin("send", session=session, text="and this", wait_seconds=60)
    stage.settle()
    stage.workers.end(first, reply="fine")
    stage.advance(FIRST_PAUSE)
    result = call.get()
    assert (result["status"], result["stopReason"]) == ("failed", "interrupted")
    assert "reply" not in result
    assert stage.status(first) == "done"
    assert stage.status(result["message_id"]) == "interrupted"
    again = stage.call("wait", session=session, message_id=result["message_id"])
    assert (again["status"], again["errorText"]) == ("failed", result["errorText"])
    assert stage.workers.texts == ["first"]


@pytest.mark.parametrize("taken", [True, False])
def test_a_message_that_crosses_the_turns_end_becomes_what_its_worker_says_of_it(
    stage: Stage, taken: bool
) -> None:
    session, first = create(stage)
    call = stage.begin("send", session=session, text="and this", wait_seconds=60)
    stage.settle()
    stage.workers.end(first, reply="fine")
    stage.settle()
    message = stage.workers.steers[0].message
    stage.workers.say(TurnSteered(session=session, turn=first, message=message, accepted=taken))
    stage.settle()
    assert stage.status(first) == "done"
    if taken:
        assert (call.get()["status"], call.get()["steered"]) == ("done", True)
        assert stage.workers.texts == ["first"]
    else:
        assert stage.workers.texts == ["first", "and this"]
        stage.workers.end(message, reply="it too")
        stage.settle()
        assert call.get()["reply"]["text"] == "it too"


def test_a_worker_that_died_is_not_waited_for_and_what_it_was_given_is_interrupted(stage: Stage) -> None:
    session, first = create(stage)
    message = stage.send(session, "and this")
    stage.workers.end(first, "failed", stop_reason="interrupted")
    stage.settle()
    assert (stage.status(first), stage.status(message)) == ("interrupted", "interrupted")


@pytest.mark.parametrize(
    ("provider", "before", "more"),
    [
        ("plain", [], {}),
        ("agent", [{"if_busy": "queue", "mode": "plan"}], {}),
        ("agent", [], {"mode": "plan"}),
        ("agent", [], {"effort": "high"}),
    ],
)
def test_a_message_that_cannot_join_waits(
    stage: Stage, provider: str, before: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    session, _ = create(stage, provider)
    for others in before:
        stage.send(session, "before", **others)
    sent = stage.send(session, "after", **more)
    assert stage.workers.steers == []
    assert stage.status(sent) == "queued"


def test_no_message_joins_a_turn_that_is_being_stopped(stage: Stage) -> None:
    session, _ = create(stage)
    stage.workers.obedient = False
    stage.stop(session)
    stage.settle()
    stage.send(session, "too late")
    assert stage.workers.steers == []


def test_a_message_whose_turn_is_stopped_while_it_is_stored_that_it_joins_waits(stage: Stage) -> None:
    session, first = create(stage)
    stage.store.hold()
    call = stage.begin("send", session=session, text="second", wait_seconds=0)
    stage.settle()
    stage.store.release()
    stage.store.hold()
    stage.settle()
    stage.workers.obedient = False
    stage.supervisor.tell(IfAwake(session, StopRunning()))
    stage.settle()
    stage.workers.end(first, "stopped")
    stage.settle()
    while stage.store._held:
        stage.store.release()
        stage.settle()
    message = call.get()["message_id"]
    assert stage.workers.steers == []
    assert (stage.status(first), stage.status(message)) == ("stopped", "queued")


def test_a_look_tells_what_has_joined(stage: Stage) -> None:
    session, first = create(stage)
    second = stage.send(session, "second")
    third = stage.send(session, "third")
    stage.workers.answer_steering(stage.workers.steers[0], accepted=True)
    stage.settle()
    glance = stage.supervisor.request(IfAwake(session, Look()))
    stage.settle()
    assert (glance.get().turn, glance.get().steered, glance.get().queued) == (first, (second, third), ())


@pytest.mark.parametrize("refusing", ["steer_taken", "unsteer_message"])
def test_what_the_store_refuses_of_a_joining_message_is_tried_again_before_the_turns_end_is_stored(
    stage: Stage, refusing: str
) -> None:
    session, first = create(stage)
    second = stage.send(session, "second")
    stage.store.refusing = frozenset({refusing})
    stage.workers.answer_steering(stage.workers.steers[0], accepted=refusing == "steer_taken")
    stage.workers.end(first)
    stage.settle()
    assert stage.status(first) == "handed"
    stage.store.refusing = frozenset()
    stage.advance(60)
    assert stage.status(first) == "done"
    if refusing == "steer_taken":
        assert stage.status(second) == "done"
    else:
        assert list(stage.workers.open) == [second]


@pytest.mark.parametrize("taken", [True, False])
def test_a_relay_that_is_killed_interrupts_what_has_joined_and_repeats_nothing(
    stage: Stage, taken: bool
) -> None:
    session, first = create(stage)
    second = stage.send(session, "second")
    if taken:
        stage.workers.answer_steering(stage.workers.steers[0], accepted=True)
        stage.settle()
    again = stage.again()
    assert [again.status(message) for message in (first, second)] == ["interrupted", "interrupted"]
    assert again.workers.runs == []
