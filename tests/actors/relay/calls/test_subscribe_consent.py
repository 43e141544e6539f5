"""The first subscription of a conversation is its owner's to allow."""

import pytest

from tests.actors.relay.calls.agents import Agent
from tests.actors.relay.calls.approving import (
    allowed,
    answer,
    approvals,
    assistant,
    begin_call,
    only_card,
    open_asking,
    standing,
)
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

pytestmark = pytest.mark.usefixtures("caller")


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_asking(open_stage)


@pytest.fixture
def caller(stage: Stage) -> Agent:
    return assistant(stage)


def test_the_first_asks_and_later_ones_do_not(stage: Stage, caller: Agent) -> None:
    other = assistant(stage)
    first = allowed(caller, "subscribe", sessions=[other.session])
    assert first["ok"], first
    assert standing(stage, caller) == ["subscribe"]
    assert caller.call("subscribe", sessions=["all"])["ok"]
    assert approvals(stage) == []
    assert len(caller.call("list_subscriptions")["subscriptions"]) == 2


def test_a_denied_one_is_not_made(stage: Stage, caller: Agent) -> None:
    begun = begin_call(caller, "subscribe", sessions=["all"])
    answer(stage, only_card(stage)["id"], "Deny")
    assert begun.get()["code"] == "REMOTE_RELAY_APPROVAL_DENIED"
    assert caller.call("list_subscriptions")["subscriptions"] == []


def test_the_card_says_what_is_watched_and_how(stage: Stage, caller: Agent) -> None:
    left_out = assistant(stage)
    begin_call(
        caller,
        "subscribe",
        sessions=["all"],
        exclude=[left_out.session],
        digest_minutes=30,
        quiet_hours={"from": "23:00", "to": "06:00", "tz": "Europe/Berlin"},
    )
    card = only_card(stage)
    assert card["question"].startswith(
        "This agent wants to watch every session of this relay, now and later."
    )
    assert "Allow covers what it subscribes to later too." in card["question"]
    assert card["detail"] == "digest every 30 min, quiet 23:00–06:00 Europe/Berlin, except 1 it leaves out"


def test_the_card_names_a_few_of_many_sessions(stage: Stage, caller: Agent) -> None:
    others = [assistant(stage, title=f"no {number}") for number in range(7)]
    begin_call(caller, "subscribe", sessions=[each.session for each in others])
    question = only_card(stage)["question"]
    assert '"no 4" and 2 more.' in question
    assert '"no 5"' not in question


def test_a_mode_in_which_it_asks_before_writing_asks_for_the_first_only(stage: Stage) -> None:
    careful = assistant(stage, mode="ask")
    assert allowed(careful, "subscribe", sessions=["all"])["ok"]
    assert careful.call("subscribe", sessions=["all"])["ok"]


def test_ending_and_listing_ask_nobody_and_need_no_switch(stage: Stage, caller: Agent) -> None:
    name = allowed(caller, "subscribe", sessions=["all"])["subscription_id"]
    stage.ports.in_force.change("agent_sessions", False)
    assert caller.call("subscribe", sessions=["all"])["code"] == "REMOTE_RELAY_LOCAL_DISABLED"
    assert len(caller.call("list_subscriptions")["subscriptions"]) == 1
    assert caller.call("unsubscribe", subscription_id=name)["unsubscribed"] == [name]
