"""What real agents do without a relay between: each speaks the protocol, and ends a turn as it does."""

import asyncio
from pathlib import Path

import pytest
from acp.schema import NewSessionResponse

from tests.agents.bare_client import BareAgent, bare_agent
from tests.agents.conftest import SetUp
from tests.agents.model_script import Say
from tests.agents.model_server import ModelServer

pytestmark = pytest.mark.slow
AGENTS = ("claude", "codex", "opencode")
LIMIT = 90.0


async def begun(agent: BareAgent, folder: Path) -> NewSessionResponse:
    """Shake hands and begin a conversation."""
    handshake = await agent.shake_hands()
    assert handshake.protocol_version == 1
    assert handshake.agent_capabilities is not None
    assert handshake.agent_capabilities.load_session
    new: NewSessionResponse = await agent.connection.new_session(cwd=str(folder), mcp_servers=[])
    return new


@pytest.mark.parametrize("name", AGENTS)
async def test_a_real_agent_answers_with_what_its_model_says(
    name: str, model: ModelServer, set_up: SetUp, folder: Path
) -> None:
    model.script.when("plain", Say("Hello from the model."))
    real = set_up(name)
    async with bare_agent(real.command, real.environment, folder) as agent, asyncio.timeout(LIMIT):
        new = await begun(agent, folder)
        end = await agent.prompt(new.session_id, "a plain question")
        assert (end.stop_reason, agent.client.text) == ("end_turn", "Hello from the model.")
        assert new.config_options is not None
        assert {option.id for option in new.config_options} >= {"model", "mode"}
