"""The rules for agents hold for external conversations: who starts what, how much, and what they may not."""

import pytest

from showcaller.actors.relay.calls import ActRequest
from showcaller.actors.relay.messages import Prompt, ToSession
from tests.actors.relay.calls.agents import agent, end_turn, open_to_agents
from tests.actors.relay.calls.external import Client, client, texts
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_to_agents(open_stage)


@pytest.fixture
def laptop(stage: Stage) -> Client:
    return client(stage)


def test_nobody_can_start_one(stage: Stage, laptop: Client) -> None:
    for made in (
        stage.call("create_session", provider="external", text="x"),
        laptop.call("create_session", provider="external", text="x"),
    ):
        assert made["code"] == "REMOTE_RELAY_PROVIDER_UNAVAILABLE"
    offered = stage.call("relay_info")["providers"]
    assert "external" not in {entry["provider"] for entry in offered}


def test_what_it_starts_is_started_by_an_agent(stage: Stage, laptop: Client) -> None:
    made = laptop.call("create_session", provider="helper", text="help", wait_seconds=0)
    (row,) = [row for row in laptop.call("list_sessions")["sessions"] if row["id"] == made["session"]]
    assert (row["createdBy"], row["startedByYou"]) == (laptop.session, True)
    nested = agent(stage)
    nested.session, nested.caller = made["session"], nested.caller._replace(session=made["session"])
    refused = nested.call("create_session", provider="helper", text="more", wait_seconds=0)
    assert refused["code"] == "REMOTE_RELAY_NESTED_SESSION"


def test_four_that_it_started_are_at_work_and_no_more(stage: Stage, laptop: Client) -> None:
    for _ in range(4):
        assert laptop.call("create_session", provider="helper", text="help", wait_seconds=0)["ok"]
    fifth = laptop.call("create_session", provider="helper", text="help", wait_seconds=0)
    assert fifth["code"] == "REMOTE_RELAY_SESSION_LIMIT"


def test_its_prompts_carry_the_most_hops_of_any_message_that_it_had(stage: Stage, laptop: Client) -> None:
    far = {"id": "msg_far000000000", "origin": "agent", "text": "x", "created_at": 1, "hops": 2}
    stage.supervisor.tell(ToSession(laptop.session, Prompt(far)))
    stage.settle()
    laptop.call()
    laptop.call()
    made = laptop.call("create_session", provider="helper", text="help", wait_seconds=0)
    assert stage.read("message", message=made["message_id"])["hops"] == 2
    sent = laptop.call("send", session=stage.create(provider="helper")[0], text="on", wait_seconds=0)
    assert stage.read("message", message=sent["message_id"])["hops"] == 2


def test_it_may_not_act_on_itself(stage: Stage, laptop: Client) -> None:
    for action, more in (("send", {"text": "x"}), ("wait", {"message_id": "msg_1"}), ("stop", {})):
        assert laptop.call(action, session=laptop.session, **more)["code"] == "REMOTE_RELAY_OWN_SESSION"


def test_the_switch_and_the_rate_hold_for_it_and_cost_its_messages_nothing(open_stage: OpenStage) -> None:
    stage = open_to_agents(open_stage, agent_sessions=False)
    laptop = client(stage)
    stage.send(laptop.session, "one")
    assert laptop.call("list_sessions")["code"] == "REMOTE_RELAY_LOCAL_DISABLED"
    assert laptop.texts() == ["one"]
    for _ in range(58):
        laptop.call()
    stage.send(laptop.session, "two")
    refused = laptop.call()
    assert (refused["code"], texts(refused)) == ("REMOTE_RELAY_RATE_LIMITED", [])
    stage.advance(60)
    assert laptop.texts() == ["two"]


def test_without_consent_it_writes_nothing(open_stage: OpenStage) -> None:
    stage = open_to_agents(open_stage, unsafe_no_cards=False)
    other, _ = stage.create(provider="helper")
    sent = client(stage).begin("send", session=other, text="x", wait_seconds=0)
    stage.settle()
    assert (sent.done, stage.read("counts")["messages"]) == (False, 1)


def test_who_waits_for_it_while_it_waits_for_them_does_not_wait(stage: Stage, laptop: Client) -> None:
    worker = agent(stage)
    waiting = laptop.begin("send", session=worker.session, text="next", wait_seconds=60)
    stage.settle()
    back = worker.call("send", session=laptop.session, text="and you?", wait_seconds=60)
    assert (back["status"], "waiting for you" in back["note"]) == ("queued", True)
    end_turn(stage, worker.session)
    assert not waiting.done


@pytest.mark.parametrize("how", ["archive", "delete"])
def test_the_token_of_a_conversation_that_was_put_away_is_of_no_use(
    stage: Stage, laptop: Client, how: str
) -> None:
    if how == "archive":
        stage.call("archive", session=laptop.session)
    else:
        deleted = stage.door._request(delete(laptop.session))
        stage.settle()
        assert deleted.get()["ok"]
    refused = laptop.call("list_sessions")
    codes = {"archive": "REMOTE_RELAY_NOT_FOUND", "delete": "REMOTE_RELAY_UNAUTHENTICATED"}
    assert refused["code"] == codes[how]
    told = "showcaller tokens new --name laptop --keep" if how == "archive" else "does not exist"
    assert told in refused["error"]


def test_a_token_that_is_bound_to_a_session_of_the_relay_is_none_of_an_external_conversation(
    stage: Stage,
) -> None:
    session, _ = stage.create(provider="helper")
    assert Client(stage, session).call()["code"] == "REMOTE_RELAY_UNAUTHENTICATED"


def delete(session: str) -> ActRequest:
    return ActRequest("delete", session)
