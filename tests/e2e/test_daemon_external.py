"""The conversation of a client with a token, over a running relay that is killed and comes back."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from jsonschema_rs import Draft202012Validator

from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import Showcaller

pytestmark = pytest.mark.slow

PATIENCE = 30.0


class Client:
    """Who holds an external token."""

    def __init__(self, daemon: Daemon, token: str) -> None:
        self.daemon = daemon
        self.token = token

    def call(self, action: str, *, timeout: float = 60, **more: Any) -> dict[str, Any]:
        headers = {"authorization": f"Bearer {self.token}"}
        base = f"http://127.0.0.1:{self.daemon.port}"
        with httpx.Client(base_url=base, headers=headers, timeout=timeout, trust_env=False) as http:
            answer: dict[str, Any] = http.post("/api/call", json={"action": action, **more}).json()
        return answer

    def texts(self) -> list[str]:
        return [message["text"] for message in self.call("list_relays").get("messages", ())]


def owner_calls(daemon: Daemon, action: str, **more: Any) -> dict[str, Any]:
    with daemon.owner as owner:
        body = {"action": action, "relay": "this", **more}
        answer: dict[str, Any] = owner.post("/api/call", json=body).json()
    return answer


def new_token(daemon: Daemon) -> tuple[str, str]:
    with daemon.owner as owner:
        owner.put("/api/settings/agent_sessions", json={"value": True})
        made = owner.post("/api/tokens", json={"kind": "external", "name": "laptop"}).json()
    return made["token"], made["session"]


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it has not become so"


def test_what_is_sent_to_it_comes_with_its_next_call_also_after_the_relay_was_killed(
    showcaller: Showcaller,
) -> None:
    with serving(showcaller) as daemon:
        token, session = new_token(daemon)
        client = Client(daemon, token)
        sent = owner_calls(daemon, "send", session=session, text="one", wait_seconds=0)
        assert sent["status"] == "queued"
        assert "cannot be prompted into action" in sent["note"]
        answer = client.call("list_relays")
        assert [message["text"] for message in answer["messages"]] == ["one"]
        with daemon.owner as owner:
            document = owner.get("/api/openapi.json").json()
        said = document["paths"]["/api/call"]["post"]["responses"]["200"]["content"]["application/json"]
        Draft202012Validator({**said["schema"], "components": document["components"]}).validate(answer)
        daemon.process.kill()
        daemon.process.wait(timeout=PATIENCE)
    with serving(showcaller) as daemon:
        client = Client(daemon, token)
        assert client.texts() == ["one"], "its next call has not confirmed it"
        assert client.texts() == []
        owner_calls(daemon, "send", session=session, text="two", wait_seconds=0)
        daemon.process.kill()
        daemon.process.wait(timeout=PATIENCE)
    with serving(showcaller) as daemon:
        assert Client(daemon, token).texts() == ["two"]


def test_its_turn_runs_while_it_waits_and_ends_when_its_client_goes(showcaller: Showcaller) -> None:
    with serving(showcaller) as daemon:
        token, session = new_token(daemon)
        client = Client(daemon, token)

        def state() -> str:
            shown: str = owner_calls(daemon, "read_session", session=session)["state"]
            return shown

        assert state() == "idle"
        with pytest.raises(httpx.ReadTimeout):
            client.call("wait", timeout=0.5, relay="this", wait_seconds=60)
        until(lambda: state() == "idle")
        with ThreadPoolExecutor(1) as beside:
            waiting = beside.submit(client.call, "wait", relay="this", wait_seconds=60)
            until(lambda: state() == "running_turn")
            assert owner_calls(daemon, "stop", session=session)["stopRequested"]
            assert waiting.result(PATIENCE)["code"] == "REMOTE_RELAY_CANCELLED"
        owner_calls(daemon, "send", session=session, text="one", wait_seconds=0)
        found = client.call("wait", relay="this", wait_seconds=60)
        assert [message["text"] for message in found["messages"]] == ["one"]
