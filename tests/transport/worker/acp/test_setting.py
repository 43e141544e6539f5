"""Model, mode and effort of a turn, and the MCP servers of an agent."""

import json
from typing import Any

import pytest

from showcaller.actors.contract.agent_messages import McpServer
from tests.transport.worker.acp.desk import AgentDesk

DOOR = McpServer(
    name="showcaller", url="http://127.0.0.1:1/mcp", command=("showcaller", "mcp"), has_token=True
)


async def test_a_turn_sets_its_agent(desk: AgentDesk) -> None:
    end = await desk.run("settings", model="large", mode="plan", effort="high")
    assert json.loads(end.reply) == {"mode": "plan", "model": "large", "effort": "high"}
    again = await desk.run("settings", mode="agent")
    assert json.loads(again.reply) == {"mode": "code", "model": "large", "effort": "high"}


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"model": "huge"}, "the agent offers no model 'huge'; it has: small, large"),
        ({"effort": "max"}, "the agent offers no effort 'max'; it has: low, high"),
    ],
)
async def test_what_is_not_offered_is_refused_with_what_is(
    desk: AgentDesk, named: dict[str, Any], words: str
) -> None:
    end = await desk.run("say hi", **named)
    assert (end.outcome, end.reply, end.error_text) == ("failed", "", words)
    assert (await desk.run("say hi")).outcome == "done"


async def test_a_mode_that_an_agent_does_not_have_goes_with_the_prompt(desk: AgentDesk) -> None:
    end = await desk.run("say hi", "plain", mode="plan")
    assert end.reply.startswith("you said: Mode: plan.")
    assert end.reply.endswith("hi")


async def test_a_mode_that_an_agent_refuses_goes_with_the_prompt(desk: AgentDesk) -> None:
    end = await desk.run("say hi", "refuse-mode", mode="plan")
    assert (end.outcome, end.reply.startswith("you said: Mode: plan.")) == ("done", True)


@pytest.mark.parametrize(
    ("options", "mcp", "kinds"),
    [((), "both", ["http"]), (("no-http",), "both", ["stdio"]), ((), "stdio", ["stdio"]), ((), "none", [])],
)
async def test_our_door_is_given_with_the_token_in_the_way_the_agent_takes(
    desk: AgentDesk, options: tuple[str, ...], mcp: Any, kinds: list[str]
) -> None:
    token = {"environment": {"SHOWCALLER_TOKEN": "sct_x", "SHOWCALLER_HOME": "/data/relay"}}
    other = McpServer(name="owners", command=("server", "--fast"), environment={"KEY": "1"})
    end = await desk.run("mcp", *options, servers=(DOOR, other), mcp=mcp, turn_more=token)
    given = json.loads(end.reply)
    ours = [server for server in given if server["name"] == "showcaller"]
    assert ["http" if "url" in server else "stdio" for server in ours] == kinds
    if kinds == ["http"]:
        hidden = "Bearer [a token of the relay]"
        assert ours[0]["headers"] == [{"name": "Authorization", "value": hidden}]
    if kinds == ["stdio"]:
        assert (ours[0]["command"], ours[0]["args"]) == ("showcaller", ["mcp"])
        assert {"name": "SHOWCALLER_HOME", "value": "/data/relay"} in ours[0]["env"]
        assert [server["args"] for server in given if server["name"] == "owners"] == [["--fast"]]
