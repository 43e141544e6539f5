"""The official client over HTTP: it finds the tool and works with it, whatever becomes of the daemon."""

import asyncio
import json
import os
import signal
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
from mcp.shared.exceptions import MCPError

from tests.e2e.daemon import Daemon, serving
from tests.e2e.mcp_client import called, over_http
from tests.e2e.program import LIMIT, Showcaller

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    folder: Path = tmp_path_factory.mktemp("served")
    with serving(Showcaller(folder / "home", folder)) as daemon:
        yield daemon


async def test_a_client_finds_one_tool_with_23_actions_and_uses_those_that_work(daemon: Daemon) -> None:
    async with over_http(daemon) as session:
        (tool,) = (await session.list_tools()).tools
        assert tool.name == "relay_tool"
        assert len(tool.input_schema["properties"]["action"]["enum"]) == 23
        assert (await called(session, action="list_relays"))["ok"]
        made = await called(session, action="create_session", text="echo one", wait_seconds=50)
        assert made["reply"]["text"] == "one\n"
        sent = await called(session, action="send", session=made["session"], text="echo two", wait_seconds=50)
        assert sent["reply"]["text"] == "two\n"
        for action in ("read_session", "stop", "archive"):
            assert (await called(session, action=action, session=made["session"]))["ok"], action
        for action in ("relay_info", "list_sessions"):
            assert (await called(session, action=action))["ok"], action
        refused = await called(session, action="read_session", session="ses_aaaaaa")
        assert refused["code"] == "REMOTE_RELAY_NOT_FOUND"
        foreign = await called(session, action="list_sessions", no_such_argument=[1, {"a": None}])
        assert foreign["ignored"] == ["no_such_argument"]


async def test_a_client_goes_on_with_the_relay_that_comes_after_a_kill(tmp_path: Path) -> None:
    showcaller = Showcaller(tmp_path / "home", tmp_path)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with serving(showcaller) as first:
        async with over_http(first) as session:
            text = f"read line < {gate}; echo $line"
            made = await called(session, action="create_session", text=text, wait_seconds=0)
            first.process.send_signal(signal.SIGKILL)
            first.process.wait(LIMIT)
            with serving(showcaller, "--port", str(first.port)) as second:
                assert second.port == first.port
                named = {"session": made["session"], "message_id": made["message_id"]}
                waiting = asyncio.ensure_future(called(session, action="wait", **named, wait_seconds=50))
                await asyncio.to_thread(gate.write_text, "went on\n")
                assert (await waiting)["reply"]["text"] == "went on\n"


async def test_fifty_clients_at_once_are_served_alike(daemon: Daemon) -> None:
    loop = asyncio.get_running_loop()

    async def twenty_calls() -> list[float]:
        took = []
        async with over_http(daemon) as session:
            for _ in range(20):
                began = loop.time()
                assert (await called(session, action="list_sessions"))["ok"]
                took.append(loop.time() - began)
        return took

    took = await asyncio.gather(*(twenty_calls() for _ in range(50)))
    sums = sorted(sum(each) for each in took)
    assert sums[-1] <= 3 * sums[len(sums) // 2], sums  # nobody waits much longer than the one in the middle


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"{", {}),
        (b"[" * 100_000, {}),
        (b"x" * 2_000_000, {}),
        (b"{}", {"content-type": "text/plain"}),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', {"mcp-protocol-version": "9"}),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', {"mcp-protocol-version": "2026-07-28"}),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', {"mcp-protocol-version": "\xff"}),
    ],
)
def test_what_is_no_message_costs_only_its_sender(
    daemon: Daemon, body: bytes, headers: dict[str, str]
) -> None:
    given = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    given += [] if "content-type" in headers else [(b"content-type", b"application/json")]
    given += [(b"accept", b"application/json, text/event-stream")]
    with daemon.owner as owner:
        refused = owner.post("/mcp", content=body, headers=given)
        assert 400 <= refused.status_code < 500, refused.text
        assert "error" in refused.json()
        assert owner.get("/api/status").json()["ok"]


def test_the_path_is_refused_without_a_token_and_from_elsewhere(daemon: Daemon) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with httpx.Client(base_url=f"http://127.0.0.1:{daemon.port}", timeout=LIMIT, trust_env=False) as nobody:
        assert nobody.post("/mcp", json=ping).status_code == 401
        assert nobody.post("/mcp", json=ping, headers={"authorization": "Bearer x"}).status_code == 401
    with daemon.owner as owner:
        assert owner.post("/mcp", json=ping, headers={"origin": "https://evil.example"}).status_code == 403
        assert owner.post("/mcp", json=ping, headers={"host": "evil.example"}).status_code == 403
        assert owner.post("/mcp", json=ping).json()["result"] == {}
        text = owner.get("/metrics").text
    assert 'showcaller_calls_total{action="list_sessions",code="ok"}' in text


def test_a_daemon_that_asks_for_no_consent_says_so_loudly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log" / "relay.log"
    log.parent.mkdir()
    for value, told in (("1", True), ("", False), ("0", False)):
        monkeypatch.setenv("SHOWCALLER_UNSAFE_NO_CARDS", value)
        showcaller = Showcaller(tmp_path / f"home{value}", tmp_path)
        with serving(showcaller, "--log-file", str(log)) as daemon:
            status, doctor = showcaller("status", "--json"), showcaller("doctor")
            assert json.loads(status.out)["unsafeNoCards"] is told
            assert ("UNSAFE" in status.out, "UNSAFE" in doctor.out) == (told, told)
            assert ("UNSAFE" in showcaller("status").err) == told
            assert doctor.code == 0, "it is what its owner chose"
            assert ("warn" in doctor.out) is told
            daemon.process.send_signal(signal.SIGTERM)
            _, err = daemon.process.communicate(timeout=LIMIT)
        assert ("UNSAFE" in err, "UNSAFE" in log.read_text()) == (told, told)
        log.unlink()


async def test_a_supervisors_token_offers_the_monitor_and_no_other_token_does(daemon: Daemon) -> None:
    with daemon.owner as owner:
        made = {
            kind: owner.post("/api/tokens", json={"kind": kind, "name": f"watching-{kind}"}).json()
            for kind in ("supervisor", "external")
        }
        session = owner.post(
            "/api/call",
            json={"action": "create_session", "relay": "this", "text": "echo seen", "wait_seconds": 50},
        ).json()["session"]
        path = f"/api/sessions/{session}/output"
        for kind, status in (("supervisor", 200), ("external", 403)):
            as_it = {"authorization": f"Bearer {made[kind]['token']}"}
            assert owner.get("/api/events", headers=as_it).status_code == status
            assert owner.get(path, headers=as_it).status_code == status
            assert owner.post("/api/monitor", json={"timeout": 0}, headers=as_it).status_code == status
            with owner.stream("GET", "/api/events/stream", headers=as_it) as stream:
                assert stream.status_code == status
            assert owner.get("/api/settings", headers=as_it).status_code == 403
    async with over_http(daemon, made["supervisor"]["token"]) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        watching = ["session_monitor", "session_events", "session_output", "session_restart"]
        assert tools == ["relay_tool", *watching]
        told = (await client.call_tool("session_monitor", {"since": 0})).structured_content
        assert session in [event["session"] for event in told["fired"]]
        page = (await client.call_tool("session_events", {"since": told["next"]})).structured_content
        assert page["events"] == []
        lines = (await client.call_tool("session_output", {"session": session})).structured_content
        assert [line["text"] for line in lines["lines"]] == ["seen"]
        restart = (await client.call_tool("session_restart", {"session": session})).structured_content
        assert restart["code"] == "REMOTE_RELAY_INVALID_INPUT"
        assert "runs command, which has no conversation to go on with" in restart["error"]
        bad = (await client.call_tool("session_monitor", {"until": ["noon"]})).structured_content
        assert bad["code"] == "REMOTE_RELAY_INVALID_INPUT"
    async with over_http(daemon, made["external"]["token"]) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["relay_tool"]
        with pytest.raises(MCPError, match="There is no tool"):
            await client.call_tool("session_monitor", {})
