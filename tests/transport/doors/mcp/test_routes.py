"""The MCP door: what it hands on, what it tells meanwhile, and what it does with bad input."""

import asyncio
import json
from typing import Any

import pytest

from showcaller.actors.contract.limits import CALL_BYTES
from showcaller.actors.relay.calls import Caller
from tests.transport.doors.mcp.served import LIMIT, McpClient, served, tool_call

OK = {"ok": True, "summary": "done"}
AGENT = Caller("agent", "ses_aaaaaaaaaaaa")


def events(text: str) -> list[dict[str, Any]]:
    """Give the messages in a stream."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines]


async def began(client: McpClient) -> None:
    async with asyncio.timeout(LIMIT):
        await client.door.came.wait()


async def test_a_result_comes_as_text_and_as_structured_content_and_a_refusal_is_no_error() -> None:
    for result in (OK, {"ok": False, "code": "REMOTE_RELAY_NOT_FOUND", "error": "There is none.", "x": "ä"}):
        async with served() as client:
            client.door.answer.set_result(result)
            answer = (await client.post(tool_call())).json()
        assert answer["id"] == 1
        assert json.loads(answer["result"]["content"][0]["text"]) == result
        assert answer["result"]["structuredContent"] == result
        assert answer["result"]["isError"] is False


async def test_arguments_are_handed_on_as_they_came_with_the_caller() -> None:
    given = {"action": "no such", "foreign": [1, None, {"deep": ""}], "limit": "7", "name": 3}
    async with served() as client:
        client.door.answer.set_result(OK)
        await client.post(tool_call(given), caller=AGENT)
        (called,) = client.door.calls
    assert (called.arguments, called.caller) == (given, AGENT)


VERSIONS = [{}, {"mcp-protocol-version": "2025-06-18"}]


@pytest.mark.parametrize("headers", VERSIONS)
@pytest.mark.parametrize(
    ("text", "held"),
    [
        ('{"action": "list_sessions", "limit": 7}', {"action": "list_sessions", "limit": 7}),
        (' {"text": "ä \\ud83d\\ude00"} ', {"text": "ä 😀"}),
        ("", {}),
        ("null", {}),
        ("[]", {}),
    ],
)
async def test_arguments_that_come_as_text_are_taken_as_the_object_that_it_holds(
    text: str, held: dict[str, Any], headers: dict[str, str]
) -> None:
    async with served() as client:
        client.door.answer.set_result(OK)
        request = tool_call()
        request["params"]["arguments"] = text
        answer = (await client.post(request, headers, caller=AGENT)).json()
        (called,) = client.door.calls
    assert answer["result"]["structuredContent"] == OK
    assert (called.arguments, called.caller) == (held, AGENT)


@pytest.mark.parametrize(
    "text",
    [
        "list_sessions",
        '"{}"',
        "[1]",
        "7",
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        "[" * 70 + "]" * 70,
        '{"a": 1e999}',
    ],
)
async def test_arguments_whose_text_holds_no_object_are_refused_as_a_call_is(text: str) -> None:
    async with served() as client:
        request = tool_call(id="r")
        request["params"]["arguments"] = text
        answer = (await client.post(request)).json()
        assert not client.door.calls
    assert (answer["id"], answer["result"]["isError"]) == ("r", False)
    refused = answer["result"]["structuredContent"]
    assert refused["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert json.loads(answer["result"]["content"][0]["text"]) == refused


@pytest.mark.parametrize("headers", VERSIONS)
async def test_empty_arguments_count_as_none_whatever_their_kind(headers: dict[str, str]) -> None:
    kinds: tuple[object, ...] = (None, [], {})
    for empty in kinds:
        async with served() as client:
            client.door.answer.set_result(OK)
            request = tool_call()
            request["params"]["arguments"] = empty
            answer = (await client.post(request, headers, caller=AGENT)).json()
            (called,) = client.door.calls
        assert answer["result"]["structuredContent"] == OK
        assert called.arguments == {}


async def test_a_client_with_a_token_hears_of_progress_every_25_seconds_until_its_answer() -> None:
    async with served() as client:
        posted = asyncio.ensure_future(client.post(tool_call(token="t")))
        for _ in range(3):
            await client.time.pass_once()
        await client.time.next_is_asked()
        client.door.answer.set_result(OK)
        reply = await posted
        waits, (called,) = client.time.waits, client.door.calls
    assert reply.headers["content-type"] == "text/event-stream"
    *progress, answer = events(reply.text)
    assert {message["method"] for message in progress} == {"notifications/progress"}
    assert {message["params"]["progressToken"] for message in progress} == {"t"}
    assert [message["params"]["progress"] for message in progress] == [25.0, 50.0, 75.0]
    assert set(waits) == {25}
    assert answer["result"]["structuredContent"] == OK
    assert called.answer_within is None


@pytest.mark.parametrize(
    ("token", "accept"), [(None, "application/json, text/event-stream"), ("t", "application/json")]
)
async def test_a_client_that_hears_of_no_progress_has_its_answer_within_45_seconds(
    token: str | None, accept: str
) -> None:
    async with served() as client:
        client.door.answer.set_result(OK)
        reply = await client.post(tool_call(token=token), {"accept": accept})
        (called,) = client.door.calls
        assert client.time.waits == []
    assert reply.headers["content-type"] == "application/json"
    assert called.answer_within == 44


async def test_a_request_that_is_taken_back_is_waited_for_no_longer() -> None:
    taken_back = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    named = {"mcp-session-id": "one"}
    async with served() as client:
        posted = asyncio.ensure_future(client.post(tool_call(), named, caller=AGENT))
        await began(client)
        for headers, caller in (({}, AGENT), ({"mcp-session-id": "two"}, AGENT), (named, Caller("owner"))):
            assert (await client.post(taken_back, headers, caller=caller)).status_code == 202
            assert not client.door.left.is_set()
        assert (await client.post(taken_back, named, caller=AGENT)).status_code == 202
        async with asyncio.timeout(LIMIT):
            await client.door.left.wait()
        answer = (await posted).json()
        assert not client.door.answer.cancelled()
    assert (answer["id"], answer["error"]["code"]) == (1, -32800)


async def test_a_repeat_has_the_same_id_and_requests_of_others_have_others() -> None:
    asked: list[tuple[str, int | str]] = [("one", 1), ("one", 1), ("one", "1"), ("one", 2), ("two", 1)]
    async with served() as client:
        client.door.answer.set_result(OK)
        for connection, number in asked:
            await client.post(tool_call(id=number), {"mcp-session-id": connection})
        await client.post(tool_call())
        ids = [called.id for called in client.door.calls]
    assert ids[0] == ids[1]
    assert len(set(ids[1:5])) == 4
    assert ids[5] is None


async def test_a_connection_is_named_at_the_handshake_and_any_name_is_taken_later() -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    listed = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    async with served() as client:
        first, second = [await client.post(hello) for _ in range(2)]
        assert first.headers["mcp-session-id"] != second.headers["mcp-session-id"]
        assert first.json()["result"]["serverInfo"]["name"] == "showcaller"
        later = await client.post(listed, {"mcp-session-id": "of an earlier relay"})
    (tool,) = later.json()["result"]["tools"]
    assert tool["name"] == "relay_tool"
    assert len(tool["inputSchema"]["properties"]["action"]["enum"]) == 23
    assert tool["inputSchema"]["type"] == "object"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_the_versions_of_todays_clients_are_spoken(version: str) -> None:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    async with served() as client:
        client.door.answer.set_result(OK)
        assert (await client.post(hello)).json()["result"]["protocolVersion"] == version
        called = await client.post(tool_call(), {"mcp-protocol-version": version})
        assert called.json()["result"]["isError"] is False
        unknown = {**hello, "params": {**params, "protocolVersion": "1999-01-01"}}
        assert (await client.post(unknown)).json()["result"]["protocolVersion"] == "2025-11-25"


async def test_the_version_without_a_handshake_is_spoken_too() -> None:
    version = "2026-07-28"
    request = tool_call()
    request["params"]["_meta"] = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {"mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "relay_tool"}
    async with served() as client:
        client.door.answer.set_result(OK)
        answered = await client.post(request, headers)
        assert answered.json()["result"]["structuredContent"] == OK
        request["params"]["arguments"] = '{"action": "list_sessions"}'
        assert (await client.post(request, headers)).json()["result"]["structuredContent"] == OK
        assert client.door.calls[-1].arguments == {"action": "list_sessions"}
        unknown = await client.post(request, {**headers, "mcp-protocol-version": "2030-01-01"})
    assert unknown.status_code == 400
    assert "error" in unknown.json()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"7",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": true, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": 7}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": NaN}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "\\ud800"}}',
        b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": "' + b"y" * CALL_BYTES + b'"}',
    ],
)
async def test_a_body_that_is_no_message_is_refused_as_json_rpc_has_it(body: bytes) -> None:
    async with served() as client:
        refused = await client.post(body)
        ping = await client.post({"jsonrpc": "2.0", "id": "p", "method": "ping"})
    assert refused.status_code == 400
    assert (refused.json()["id"], refused.json()["error"]["code"]) in {(None, -32700), (None, -32600)}
    assert ping.json() == {"jsonrpc": "2.0", "id": "p", "result": {}}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("tools/call", None, -32602),
        ("tools/call", {"name": 7}, -32602),
        ("tools/call", {"name": "other"}, -32602),
        ("tools/call", {"name": "relay_tool", "arguments": [1]}, -32602),
        ("tools/call", {"name": "relay_tool", "arguments": {}, "_meta": 7}, -32602),
        ("initialize", {}, -32602),
        ("resources/list", {}, -32601),
        ("no/such", {}, -32601),
    ],
)
async def test_a_request_that_is_not_for_us_is_an_error_with_its_id(
    method: str, params: dict[str, Any] | None, code: int
) -> None:
    async with served() as client:
        client.door.answer.set_result(OK)
        reply = await client.post({"jsonrpc": "2.0", "id": 5, "method": method, "params": params})
        assert client.door.calls == []
    assert reply.status_code == 200
    assert (reply.json()["id"], reply.json()["error"]["code"]) == (5, code)


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
async def test_a_body_of_another_kind_is_refused(kind: str) -> None:
    async with served() as client:
        refused = await client.post(tool_call(), {"content-type": kind})
        assert client.door.calls == []
    assert (refused.status_code, refused.json()["error"]["code"]) == (415, -32600)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_only_posts_are_taken(method: str) -> None:
    async with served() as client:
        refused = await client.post(b"", method=method)
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


async def test_a_mistake_of_ours_is_an_error_that_tells_nothing_of_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as client:
        client.door.answer.set_exception(RuntimeError("our insides"))
        reply = await client.post(tool_call())
    assert (reply.status_code, reply.json()["error"]["code"]) == (200, -32603)
    assert "our insides" not in reply.text
    assert "our insides" in caplog.text
