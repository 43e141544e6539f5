"""What relays there are, and what one offers."""

from typing import Any

from tests.actors.relay.calls.agents import Agent, agent, open_to_agents
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

OWN = {"name": "stage", "self": True, "online": True, "version": "1", "permission": "full", "unlocked": True}


def listed(stage: Stage, by: Agent) -> dict[str, Any]:
    call = stage.door._begin({"action": "list_relays"}, by.caller, None)
    stage.settle()
    result: dict[str, Any] = call.get()
    return result


def test_this_relay_is_listed_where_agents_may_use_it(open_stage: OpenStage) -> None:
    stage = open_to_agents(open_stage, longest_wait_minutes=3, max_active_sessions=7)
    found = listed(stage, by=agent(stage))
    assert found == {
        "ok": True,
        "relay": "stage",
        "summary": "list_relays: 1 relay, 1 unlocked",
        "self": {"name": "stage"},
        "relays": [OWN],
        "limits": {"maxWaitSeconds": 180, "maxActiveSessions": 7},
    }


def test_it_is_not_listed_where_they_may_not_but_can_still_be_asked_for_the_list(stage: Stage) -> None:
    found = listed(stage, by=agent(stage, provider="command"))
    assert (found["ok"], found["relays"], found["self"]) == (True, [], {"name": "stage"})
    assert found["summary"] == "list_relays: 0 relays, 0 unlocked"
    assert "showcaller settings set agent_sessions on" in found["note"]
