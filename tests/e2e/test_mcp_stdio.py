"""The official client over standard input and output: the bridge passes all on, and outlives its relay."""

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.daemon import Daemon, serving
from tests.e2e.mcp_client import called, over_stdio
from tests.e2e.program import LIMIT, PROGRAM, Showcaller

pytestmark = pytest.mark.slow


def killed(daemon: Daemon) -> None:
    """Kill the relay without a word."""
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait(LIMIT)


def bridge(showcaller: Showcaller, lines: bytes, token: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run the bridge over lines to its end."""
    environment = {**os.environ, "SHOWCALLER_HOME": str(showcaller.home), "SHOWCALLER_TOKEN": token}
    return subprocess.run(
        [str(PROGRAM), "mcp"], input=lines, env=environment, capture_output=True, timeout=LIMIT, check=True
    )


def answers(ended: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    assert not ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def request(number: int | str, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


async def test_a_client_finds_the_tool_and_uses_it(tmp_path: Path) -> None:
    showcaller = Showcaller(tmp_path / "home", tmp_path)
    with serving(showcaller) as daemon:
        async with over_stdio(showcaller, SHOWCALLER_TOKEN=daemon.token) as client:
            (tool,) = (await client.list_tools()).tools
            assert len(tool.input_schema["properties"]["action"]["enum"]) == 23
            made = await called(client, action="create_session", text="echo one", wait_seconds=50)
            assert made["reply"]["text"] == "one\n"
            refused = await called(client, action="read_session", session="ses_aaaaaa")
            assert refused["code"] == "REMOTE_RELAY_NOT_FOUND"
            both = await asyncio.gather(*(called(client, action="list_sessions") for _ in range(20)))
            assert all(each["ok"] for each in both)


async def test_a_client_without_a_token_has_a_conversation_of_its_own_kept_under_its_name(
    tmp_path: Path,
) -> None:
    showcaller = Showcaller(tmp_path / "home", tmp_path)
    with serving(showcaller) as daemon:
        for _ in range(2):
            async with over_stdio(showcaller, "--name", "nightly") as client:
                assert (await called(client, action="list_relays"))["ok"]
        with daemon.owner as owner:
            listed = owner.post(
                "/api/call", json={"action": "list_sessions", "relay": "this", "scope": "all"}
            ).json()
        assert [(each["title"], each["provider"]) for each in listed["sessions"]] == [("nightly", "external")]


async def test_a_client_whose_token_is_revoked_is_told_at_once_who_lets_it_in_again(tmp_path: Path) -> None:
    showcaller = Showcaller(tmp_path / "home", tmp_path)
    with serving(showcaller):
        async with over_stdio(showcaller, "--name", "nightly") as client:
            assert (await called(client, action="list_relays"))["ok"]
            assert (await asyncio.to_thread(showcaller, "tokens", "revoke", "nightly")).code == 0
            async with asyncio.timeout(20):  # as long as a relay that has gone is waited for, and less
                refused = await called(client, action="list_relays")
            assert refused["code"] == "REMOTE_RELAY_UNAUTHENTICATED", refused
            way_in = ("tokens", "new", "--name", "nightly", "--keep")
            assert f"showcaller {' '.join(way_in)}" in refused["error"]
            assert (await asyncio.to_thread(showcaller, *way_in)).code == 0
            assert (await called(client, action="list_relays"))["ok"]


@pytest.mark.parametrize("action", ["create_session", "wait"])
async def test_a_cut_call_is_taken_up_again_and_nothing_is_sent_twice(tmp_path: Path, action: str) -> None:
    showcaller = Showcaller(tmp_path / "home", tmp_path)
    gate, begun = tmp_path / "gate", tmp_path / "begun"
    for pipe in (gate, begun):
        os.mkfifo(pipe)
    text = f"echo x > {begun}; read line < {gate}; echo $line"
    heard: list[float] = []

    async def heard_of(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    with serving(showcaller) as first:
        environment = {"SHOWCALLER_TOKEN": first.token}
        async with over_stdio(showcaller, **environment) as client:
            call: dict[str, Any] = {"action": "create_session", "text": text, "wait_seconds": 50}
            if action == "wait":
                unwaited: dict[str, Any] = {**call, "wait_seconds": 0}
                made = await called(client, **unwaited)
                named = {"session": made["session"], "message_id": made["message_id"]}
                call = {"action": "wait", **named, "wait_seconds": 50}
            waiting = asyncio.ensure_future(called(client, progress=heard_of, **call))
            assert await asyncio.to_thread(begun.read_text) == "x\n"
            killed(first)
            with serving(showcaller):
                await asyncio.to_thread(gate.write_text, "went on\n")
                found = await waiting
                assert (found["status"], found["reply"]["text"]) == ("done", "went on\n")
                listed = await called(client, action="list_sessions", scope="all")
                assert len(listed["sessions"]) == 1
                read = await called(client, action="read_session", session=found["session"])
                assert [each["role"] for each in read["messages"]] == ["user", "assistant"]


def test_without_a_relay_every_request_is_answered_with_how_to_start_one(tmp_path: Path) -> None:
    showcaller = Showcaller(tmp_path / "home", tmp_path)
    lines = request(1, "initialize", protocolVersion="2025-06-18", capabilities={}) + request(
        "two", "tools/call", name="relay_tool", arguments={"action": "list_relays"}
    )
    hello, called_ = sorted(answers(bridge(showcaller, lines)), key=lambda each: str(each["id"]))
    assert "showcaller serve" in hello["error"]["message"]
    result = called_["result"]
    assert (result["isError"], result["structuredContent"]["code"]) == (False, "REMOTE_RELAY_CALL_FAILED")
    assert "showcaller serve" in result["structuredContent"]["error"]


def test_bad_lines_cost_only_themselves(tmp_path: Path) -> None:
    showcaller = Showcaller(tmp_path / "home", tmp_path)
    bad = [b"{", b"[]", b"7", b"\xff", b'{"id": true, "method": "ping"}', b"[" * 100_000, b"x" * 3_000_000]
    with serving(showcaller) as daemon:
        lines = b"".join(line + b"\n" for line in bad) + request("p", "ping")
        told = answers(bridge(showcaller, lines, daemon.token))
        codes = [each["error"]["code"] for each in told[: len(bad)]]
        assert codes == [-32700, -32600, -32600, -32700, -32600, -32700, -32600]
        assert told[len(bad) :] == [{"jsonrpc": "2.0", "id": "p", "result": {}}]
        wrong = answers(bridge(showcaller, request(1, "ping"), "wrong"))
        assert "error" in wrong[0]


async def test_a_request_that_is_taken_back_has_no_answer_and_goes_on_at_the_relay(tmp_path: Path) -> None:
    showcaller = Showcaller(tmp_path / "home", tmp_path)
    pipe = tmp_path / "begun"
    os.mkfifo(pipe)
    arguments = {"action": "create_session", "relay": "this", "text": f"echo x > {pipe}", "wait_seconds": 40}
    with serving(showcaller) as daemon:
        environment = {
            **os.environ,
            "SHOWCALLER_HOME": str(showcaller.home),
            "SHOWCALLER_TOKEN": daemon.token,
        }
        process = await asyncio.create_subprocess_exec(
            str(PROGRAM), "mcp", stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        assert process.stdin is not None
        process.stdin.write(request(1, "tools/call", name="relay_tool", arguments=arguments))
        taken_back = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        with daemon.owner as owner:
            while owner.get("/api/status").json()["turns"]["running"] == 0:
                pass
        further = json.dumps(taken_back).encode() + b"\n" + request(2, "ping")
        out, _ = await asyncio.wait_for(process.communicate(further), LIMIT)
        assert [json.loads(line)["id"] for line in out.splitlines()] == [2]
        assert await asyncio.to_thread(pipe.read_text) == "x\n"
