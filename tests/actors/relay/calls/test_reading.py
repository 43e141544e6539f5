"""What lists and readings of sessions show, and what a relay offers."""

from typing import Any, Final

import pytest

from showcaller.actors.contract.settings import ProviderSwitches
from tests.actors.relay.calls.agents import PROVIDERS, agent, end_turn, open_to_agents
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

CLOSED: Final = {entry.provider: ProviderSwitches(agents_may_start=False) for entry in PROVIDERS}


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_to_agents(open_stage)


@pytest.mark.parametrize(("reply", "asks"), [("Which one?", True), ("Done.", False), ("", False)])
def test_a_last_reply_that_is_a_question_is_hinted_at(stage: Stage, reply: str, asks: bool) -> None:
    session, message = stage.create()
    stage.workers.end(message, reply=reply)
    stage.settle()
    shown = stage.call("read_session", session=session)
    (listed,) = stage.call("list_sessions")["sessions"]
    assert (shown["lastWordsAsk"], listed["lastWordsAsk"]) == (asks, asks)
    stage.send(session, "go on")
    assert stage.call("read_session", session=session)["lastWordsAsk"] is False


def test_what_an_agent_did_comes_on_request_within_what_the_texts_leave_of_the_characters(
    stage: Stage,
) -> None:
    session, message = stage.create()
    lines = [f"tool: {number:03} {'x' * 91}" for number in range(20)]
    stage.workers.end(message, reply="r" * 100, activity=tuple(lines))
    stage.settle()
    plain = stage.call("read_session", session=session)["messages"]
    assert ["activity" in each for each in plain] == [False, False]
    prompt, reply = stage.call("read_session", session=session, include_activity=True)["messages"]
    assert "activity" not in prompt
    assert reply["activity"] == lines
    _, reply = stage.call("read_session", session=session, include_activity=True, max_chars=500)["messages"]
    assert (len(reply["text"]), reply["activity"]) == (100, lines[-3:])


def test_what_was_done_in_a_turn_without_a_reply_is_with_its_prompt(stage: Stage) -> None:
    session, message = stage.create()
    stage.workers.end(message, "failed", error_text="boom", activity=("tool: make",))
    stage.settle()
    (prompt,) = stage.call("read_session", session=session, include_activity=True)["messages"]
    assert prompt["activity"] == ["tool: make"]


def test_a_reply_to_a_turn_that_failed_is_no_question(stage: Stage) -> None:
    session, message = stage.create()
    stage.workers.end(message, "failed", reply="What?")
    stage.settle()
    assert stage.call("read_session", session=session)["lastWordsAsk"] is False


def test_the_other_members_of_a_group_are_named_with_their_states(stage: Stage) -> None:
    run = stage.fan_out(["a", "b"], name="counts")
    run.work()
    here = stage.call("create_session", text="go", group="counts", title="here", wait_seconds=0)
    there = stage.call("create_session", text="go", group="counts", title="there", wait_seconds=0)
    end_turn(stage, there["session"])
    stage.call("archive", session=there["session"])
    group = stage.call("read_session", session=here["session"])["group"]
    assert (group["id"], group["name"], group["role"]) == (run.group, "counts", "member")
    others = {member["id"]: member for member in group["members"]}
    assert len(others) == 3
    assert here["session"] not in others
    assert others[there["session"]] == {
        "id": there["session"],
        "title": "there",
        "role": "member",
        "state": "idle",
        "archived": True,
    }
    back = stage.call("read_session", session=there["session"])["group"]["members"]
    assert {member["state"] for member in back if member["id"] == here["session"]} == {"running_turn"}


def test_a_session_without_a_group_has_none(stage: Stage) -> None:
    assert "group" not in stage.call("read_session", session=stage.create()[0])


def test_a_relay_says_what_it_offers(stage: Stage) -> None:
    stage.fan_out(["a", "b"], name="counts").work()
    (stage.home / "there").mkdir()
    stage.create(cwd=str(stage.home / "there"))
    info = agent(stage).call("relay_info")
    assert (info["name"], info["version"], info["relay"]) == ("stage", "1", "stage")
    assert info["relayModes"] == ["ask", "plan", "agent", "autopilot"]
    assert [entry["provider"] for entry in info["providers"]][:2] == ["command", "callable"]
    helper = next(entry for entry in info["providers"] if entry["provider"] == "helper")
    assert (helper["label"], helper["agentsMayStart"], helper["steers"]) == ("Helper", True, False)
    assert info["workspaces"]["default"] == str(stage.home)
    assert set(info["workspaces"]["recent"]) == {str(stage.home), str(stage.home / "there")}
    (group,) = info["groups"]
    assert (group["name"], group["memberCount"]) == ("counts", 2)
    assert set(group) == {"id", "name", "memberCount"}
    assert "groupsTotal" not in info


@pytest.mark.parametrize(
    ("settings", "accepts"),
    [
        ({}, True),
        ({"agent_sessions": False}, False),
        ({"providers": CLOSED}, False),
        ({"providers": CLOSED | {"command": ProviderSwitches(agents_may_start=True)}}, True),
    ],
)
def test_a_relay_accepts_agents_prompts_exactly_when_one_would_be_taken(
    open_stage: OpenStage, settings: dict[str, Any], accepts: bool
) -> None:
    stage = open_to_agents(open_stage, **settings)
    assert stage.call("relay_info")["acceptsAgentPrompts"] is accepts
    caller = agent(stage)
    named = {"provider": "command"} if "command" in settings.get("providers", {}) else {}
    assert caller.call("create_session", text="x", wait_seconds=0, **named)["ok"] is accepts


def test_fifty_groups_are_named_and_how_many_there_are(stage: Stage) -> None:
    for number in range(51):
        stage.fan_out(["a"], name=f"group {number}").work()
    info = stage.call("relay_info")
    assert (len(info["groups"]), info["groupsTotal"]) == (50, 51)
