"""Approval cards over the end of the relay, and of conversations that no relay runs."""

import pytest

from showcaller.actors.relay.messages import Close
from tests.actors.relay.asking import outliving, status
from tests.actors.relay.calls.agents import Agent
from tests.actors.relay.calls.approving import (
    ASKING,
    WITH_ASSISTANT,
    allow,
    answer,
    approvals,
    assistant,
    begin_call,
    only_card,
    open_asking,
    sessions,
    standing,
)
from tests.actors.relay.calls.external import client
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_asking(open_stage)


# -- the end of the relay, and conversations that it does not run -------------------------------------


def left_open(open_stage: OpenStage) -> tuple[Stage, Agent, str]:
    """Have a relay end while a call waits for its card; gives the next, the caller on it, and the card."""
    stage = outliving(open_stage, settings=ASKING, providers=WITH_ASSISTANT)
    caller = assistant(stage, "ask")
    begin_call(caller, "create_session", "once", text="x")
    card = only_card(stage)["id"]
    after = outliving(open_stage, stage, settings=ASKING, providers=WITH_ASSISTANT)
    return after, Agent(after, caller.session), card


def test_a_call_that_is_taken_up_again_finds_its_card(open_stage: OpenStage) -> None:
    stage, caller, card = left_open(open_stage)
    assert only_card(stage)["id"] == card
    stage.advance(50)
    begun = begin_call(caller, "create_session", "once", text="x")
    assert (begun.done, only_card(stage)["id"]) == (False, card)
    stage.advance(120)
    assert "note" not in answer(stage, card)
    assert begun.get()["ok"]
    assert standing(stage, caller) == ["create"]


def test_a_card_whose_call_nobody_takes_up_again_is_withdrawn(open_stage: OpenStage) -> None:
    stage, caller, card = left_open(open_stage)
    stage.advance(59)
    assert status(stage, card) == "pending"
    stage.advance(2)
    assert (status(stage, card), approvals(stage)) == ("withdrawn", [])
    turn = stage.workers.runs[-1].turn
    assert [kind for kind, message in stage.events(caller.session) if message == turn][-2:] == [
        "question_asked",
        "question_closed",
    ]
    begun = begin_call(caller, "create_session", "once", text="x")
    assert (begun.done, only_card(stage)["id"] == card) == (False, False)


def test_an_allow_meanwhile_is_recorded_and_nothing_is_done(open_stage: OpenStage) -> None:
    stage, caller, card = left_open(open_stage)
    given = answer(stage, card)
    assert (given["status"], "recorded, and nothing was carried out" in given["note"]) == ("answered", True)
    assert (sessions(stage), standing(stage, caller)) == (1, ["create"])
    stage.advance(61)
    assert sessions(stage) == 1
    begun = begin_call(caller, "create_session", "once", text="x")
    assert not begun.done, "an old Allow is for no later call"


@pytest.mark.parametrize("choice", ["Allow", "Deny"])
def test_a_call_taken_up_again_hears_once_what_was_answered_meanwhile(
    open_stage: OpenStage, choice: str
) -> None:
    stage, caller, card = left_open(open_stage)
    answer(stage, card, choice)
    stage.advance(10)
    other = begin_call(caller, "create_session", "other", text="x")
    begun = begin_call(caller, "create_session", "once", text="x")
    assert not other.done, "it is another call"
    assert begun.get()["ok"] == (choice == "Allow")
    again = begin_call(caller, "create_session", "once", text="x")
    if choice == "Allow":
        assert again.get()["status"] == "duplicate"
    else:
        assert not again.done, "deny is remembered for nothing"


def test_another_call_under_the_same_id_does_not_get_the_card(open_stage: OpenStage) -> None:
    stage, caller, card = left_open(open_stage)
    refused = begin_call(caller, "create_session", "once", text="y").get()
    assert refused["code"] == "REMOTE_RELAY_INVALID_INPUT"
    stage.advance(61)
    assert status(stage, card) == "withdrawn"


def test_a_relay_that_stops_says_so_to_the_calls_that_wait_and_leaves_the_card(
    open_stage: OpenStage,
) -> None:
    stage = outliving(open_stage, settings=ASKING, providers=WITH_ASSISTANT)
    caller = assistant(stage)
    begun = begin_call(caller, "create_session", "once", text="x")
    card = only_card(stage)["id"]
    closed = stage.supervisor.request(Close(leaves=True))
    stage.settle()
    assert (closed.done, begun.get()["code"]) == (True, "REMOTE_RELAY_UNAVAILABLE")
    assert status(stage, card) == "pending"


def test_a_conversation_that_no_relay_runs_is_asked_about_as_well(stage: Stage) -> None:
    laptop = client(stage)
    begun = laptop.begin("create_session", "once", text="x", provider="assistant", wait_seconds=0)
    stage.settle()
    card = only_card(stage)
    assert (begun.done, card["session"], card["message"]) == (False, laptop.session, None)
    assert laptop.state() == "running_turn"
    allow(stage)
    assert begun.get()["ok"]
    assert stage.read("standing_approvals", conversation=laptop.session) == ["create"]


def test_a_stop_of_such_a_conversation_takes_its_card_with_it(stage: Stage) -> None:
    laptop = client(stage)
    begun = laptop.begin("create_session", text="x", provider="assistant", wait_seconds=0)
    stage.settle()
    card = only_card(stage)["id"]
    stage.call("stop", session=laptop.session)
    assert (begun.get()["ok"], status(stage, card)) == (False, "withdrawn")


def test_after_the_end_of_the_relay_the_card_of_such_a_conversation_is_withdrawn_in_time(
    open_stage: OpenStage,
) -> None:
    stage = open_asking(open_stage)
    laptop = client(stage)
    laptop.begin("create_session", "once", text="x", provider="assistant", wait_seconds=0)
    stage.settle()
    card = only_card(stage)["id"]
    stage.drop()
    after = open_asking(open_stage)
    assert after.awake == [laptop.session]
    after.advance(61)
    assert (status(after, card), after.awake) == ("withdrawn", [])
    assert after.events(laptop.session) == [("question_asked", None), ("question_closed", None)]


def test_a_conversation_is_deleted_with_its_cards(stage: Stage) -> None:
    laptop = client(stage)
    laptop.begin("create_session", "once", text="x", provider="assistant", wait_seconds=0)
    stage.settle()
    after = stage.again()
    card = only_card(after)["id"]
    assert after.call("archive", session=laptop.session)["ok"]
    assert status(after, card) == "withdrawn"
    after.advance(61)
    assert after.awake == []
