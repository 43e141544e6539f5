"""How a turn's agent is run: by the entry of the catalogue, and what the session and its message name."""

from typing import Any

import pytest
from pydantic import ValidationError

from showcaller.actors.contract.agent_entries import OWN_SERVER, AgentEntry, ServerEntry
from showcaller.actors.contract.agent_messages import CloneSource, McpServer
from showcaller.actors.relay.agent_specs import agent_spec
from showcaller.actors.relay.turn_signals import Waiting
from showcaller.transport.doors.agent_tokens import DOOR_NAME

ENTRY = AgentEntry(
    name="fake",
    label="Fake",
    command=("fake", "acp"),
    environment={"A": "1"},
    loads=True,
    mcp="stdio",
    session_meta={"fake": {"quiet": True}},
)
DOOR = McpServer(name="showcaller", url="http://127.0.0.1:1/mcp", has_token=True)


def session(**more: Any) -> dict[str, Any]:
    return {
        "id": "ses_a",
        "mode": "agent",
        "model": "small",
        "effort": None,
        "agent_session_id": None,
        **more,
    }


def test_the_entry_says_how_and_the_session_with_what() -> None:
    spec = agent_spec(ENTRY, session(), Waiting("msg_a", "hi"), DOOR)
    assert (spec.command, spec.environment, spec.mcp, spec.servers) == (
        ("fake", "acp"),
        {"A": "1"},
        "stdio",
        (DOOR,),
    )
    assert (spec.session_meta, spec.folders) == ({"fake": {"quiet": True}}, ())
    assert (spec.model, spec.mode, spec.effort) == ("small", "agent", None)
    assert (spec.loads, spec.resumes, spec.resume, spec.resume_required) == (True, False, None, False)


def test_what_a_message_names_goes_before_the_sessions_own() -> None:
    spec = agent_spec(
        ENTRY, session(), Waiting("msg_a", "hi", model="large", mode="plan", effort="high"), None
    )
    assert (spec.model, spec.mode, spec.effort, spec.servers) == ("large", "plan", "high", ())


def test_an_agents_requests_reach_the_folders_that_the_owner_allows() -> None:
    assert agent_spec(ENTRY, session(), Waiting("msg_a", "hi"), None, ("/srv",)).folders == ("/srv",)


def test_an_agent_that_takes_a_repository_is_never_run_without_a_clone() -> None:
    cloning = ENTRY.model_copy(update={"takes": "repo"})
    hosts = ("git.test",)
    named = session(repo="https://git.test/x", branch="fix")
    spec = agent_spec(cloning, named, Waiting("msg_a", "hi"), None, ("/srv",), hosts)
    assert spec.clone == CloneSource(url="https://git.test/x", branch="fix", hosts=hosts)
    assert spec.folders == ()
    spec = agent_spec(cloning, session(), Waiting("msg_a", "hi"), None, ("/srv",), hosts)
    assert spec.clone == CloneSource(url="", hosts=hosts)
    assert agent_spec(ENTRY, session(), Waiting("msg_a", "hi"), None, ("/srv",), hosts).clone is None


def test_a_conversation_that_is_known_has_to_be_continued() -> None:
    spec = agent_spec(ENTRY, session(agent_session_id="n1"), Waiting("msg_a", "hi"), DOOR)
    assert (spec.resume, spec.resume_required) == ("n1", True)


def test_a_session_that_was_just_made_has_no_conversation_yet() -> None:
    spec = agent_spec(ENTRY, {"id": "ses_a", "mode": "agent"}, Waiting("msg_a", "hi"), None)
    assert (spec.model, spec.effort, spec.resume) == (None, None, None)


def test_the_owners_servers_come_beside_our_own_and_get_no_token_of_the_agents() -> None:
    docs = ServerEntry(url="https://docs.test/mcp", headers={"Authorization": "Bearer mine"})
    entry = ENTRY.model_copy(update={"mcp_servers": {"docs": docs, "files": ServerEntry(command=("files",))}})
    servers = agent_spec(entry, session(), Waiting("msg_a", "hi"), DOOR).servers
    assert [(server.name, server.has_token) for server in servers] == [
        ("showcaller", True),
        ("docs", False),
        ("files", False),
    ]
    assert (servers[1].url, servers[1].headers) == (docs.url, docs.headers)
    assert servers[2].command == ("files",)
    alone = agent_spec(entry, session(), Waiting("msg_a", "hi"), None).servers
    assert [server.name for server in alone] == ["docs", "files"]


def test_no_server_of_the_owner_can_take_the_place_of_our_own() -> None:
    assert DOOR_NAME == OWN_SERVER == "showcaller"
    with pytest.raises(ValidationError, match="choose another name"):
        AgentEntry.model_validate({**dict(ENTRY), "mcp_servers": {OWN_SERVER: {"command": ["other"]}}})
