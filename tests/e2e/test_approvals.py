"""The owner is asked before an agent's call is carried out: over the real doors, and over a relay's death."""

import asyncio
import json
import signal
from typing import Any

import pytest

from tests.e2e.daemon import Daemon, serving
from tests.e2e.mcp_client import called, over_stdio
from tests.e2e.program import LIMIT, Showcaller
from tests.e2e.test_agents import call
from tests.e2e.test_agents import relay as relay  # noqa: PLC0414 - a fixture
from tests.e2e.test_cards import inbox, reply

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def delegating(daemon: Daemon, text: str = "say from below", **more: Any) -> tuple[str, str]:
    """Have an agent start a session with a prompt, and wait until its owner is asked."""
    made = {"action": "create_session", "relay": "this", "text": text, "wait_seconds": 50}
    with daemon.owner as owner:
        assert owner.put("/api/settings/agent_sessions", json={"value": True}).is_success
    order = f"tool-call {json.dumps(made)}"
    told = call(daemon, "create_session", text=order, provider="acp-fake", wait_seconds=LIMIT, **more)
    assert (told["status"], told.get("approvalsPending")) == ("waiting_for_answer", 1), told
    return told["session"], told["message_id"]


def test_an_agent_delegates_once_its_owner_allows_it_and_asks_again_when_that_is_revoked(
    relay: Showcaller,
) -> None:
    with serving(relay) as daemon:
        session, turn = delegating(daemon)
        (item,) = inbox(daemon)
        assert (item["kind"], item["session"]) == ("approval", session)
        assert "start sessions on this relay (acp-fake, the default folder)" in item["question"]
        assert 'Prompt: "say from below"' in item["detail"]
        shown = relay("inbox")
        assert "Sessions it starts use this relay's accounts." in shown.out
        assert f"answer {item['id']} Allow" in shown.out
        assert relay("answer", item["id"][:8], "allow").code == 0
        told = json.loads(reply(daemon, session, turn))
        assert (told["ok"], told["reply"]["text"]) == (True, "from below"), told
        assert inbox(daemon) == []
        listed = json.loads(relay("approvals", "--json").out)["approvals"]
        assert [(one["session"], one["kind"]) for one in listed] == [(session, "create")]
        assert session in relay("approvals").out
        revoked = relay("approvals", "revoke", session[:12], "create", "--json")
        assert json.loads(revoked.out)["revoked"] == ["create"], revoked
        assert relay("approvals", "revoke", session).code == 3
        assert json.loads(relay("approvals", "--json").out)["approvals"] == []
        refused = relay("unlock", session)
        assert (refused.code, "type a message in it" in refused.err) == (1, True), refused


def test_no_is_no_over_http_and_the_agent_reads_why(relay: Showcaller) -> None:
    with serving(relay) as daemon, daemon.owner as owner:
        session, turn = delegating(daemon, mode="ask")
        (item,) = inbox(daemon)
        path = f"/api/cards/{item['id']}/answer"
        assert owner.post(path, json={"answer": "Allow"}).status_code == 400
        assert owner.post(path, json={"dismiss": True}).status_code == 400
        assert owner.post(path, json={"choices": ["Deny"]}).is_success
        told = json.loads(reply(daemon, session, turn))
        assert (told["ok"], told["code"]) == (False, "REMOTE_RELAY_APPROVAL_DENIED")
        assert len(call(daemon, "list_sessions")["sessions"]) == 1
        assert owner.post(path, json={"choices": ["Allow"]}).status_code == 409


def test_a_stopped_turn_takes_its_card_with_it(relay: Showcaller) -> None:
    with serving(relay) as daemon:
        session, _ = delegating(daemon)
        assert call(daemon, "stop", session=session)["stopRequested"] is True
        assert inbox(daemon) == []
        assert len(call(daemon, "list_sessions")["sessions"]) == 1


async def test_the_bridge_takes_a_call_up_again_that_waits_when_its_relay_dies(relay: Showcaller) -> None:
    with serving(relay) as daemon:
        with daemon.owner as owner:
            assert owner.put("/api/settings/agent_sessions", json={"value": True}).is_success
            switch = "/api/settings/providers.command.agents_may_start"
            assert owner.put(switch, json={"value": True}).is_success
        async with over_stdio(relay, "--name", "laptop") as client:
            making = asyncio.create_task(
                called(
                    client,
                    action="create_session",
                    provider="command",
                    text="echo delegated",
                    wait_seconds=50,
                )
            )
            await asyncio.to_thread(owner_is_asked, daemon)
            (item,) = inbox(daemon)
            assert 'Prompt: "echo delegated"' in item["detail"]
            daemon.process.send_signal(signal.SIGKILL)
            daemon.process.wait(timeout=60)
            with serving(relay, "--port", str(daemon.port)) as following:
                assert [one["id"] for one in inbox(following)] == [item["id"]]
                assert (await asyncio.to_thread(relay, "answer", item["id"], "Allow")).code == 0
                told = await making
                assert (told["ok"], told["reply"]["text"]) == (True, "delegated\n"), told
                assert len([s for s in _sessions(following) if s["provider"] == "command"]) == 1


def owner_is_asked(daemon: Daemon) -> None:
    """Wait until the owner is asked something."""
    asked = {"until": ["awaiting-input"]}
    with daemon.owner as owner:
        told = owner.post("/api/monitor", json={**asked, "timeout": 0}).json()
        if not owner.get("/api/inbox").json()["items"]:
            since = told["next"]
            told = owner.post("/api/monitor", json={**asked, "timeout": 60, "since": since}).json()
            assert told["fired"], told


def _sessions(daemon: Daemon) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call(daemon, "list_sessions")["sessions"]
    return found
