"""How a call is taken up again whose relay has gone."""

import json
from typing import Any

import pytest

from showcaller.transport.doors.stdio.retaking import (
    again,
    failure,
    joined,
    seconds_to_return,
    to_wait_for,
    tool_answer,
    with_way_on,
)

Json = dict[str, Any]


def call(action: str, *, token: str | None = None, **arguments: Any) -> Json:
    params: Json = {"name": "relay_tool", "arguments": {"action": action, **arguments}}
    if token is not None:
        params["_meta"] = {"progressToken": token}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def wait_seconds(message: Json) -> object:
    return message["params"]["arguments"].get("wait_seconds")


DUPLICATE: Json = {"ok": True, "status": "duplicate", "session": "ses_a", "message_id": "msg_a", "title": "t"}


@pytest.mark.parametrize(
    ("request_", "passed", "left"),
    [
        (call("wait", token="t", wait_seconds=95), 20.5, 74),
        (call("wait", token="t", wait_seconds="95"), 20, 75),
        (call("wait", token="t", wait_seconds=10), 20, 0),
        (call("send", token="t"), 20, 100),
        (call("create_session", token="t", wait_seconds=""), 20, 100),
        (call("wait", wait_seconds=95), 20, 24),
        (call("wait", wait_seconds=[]), 20, 24),
        (call("wait", wait_seconds=5), 2, 3),
    ],
)
def test_a_repeat_waits_for_what_is_left(request_: Json, passed: float, left: int) -> None:
    repeat = again(request_, request_, passed)
    assert wait_seconds(repeat) == left
    assert repeat["id"] == request_["id"]
    assert repeat["params"].get("_meta") == request_["params"].get("_meta")


def test_arguments_that_came_as_text_wait_for_what_is_left_too() -> None:
    request = call("send", token="t", wait_seconds=95)
    request["params"]["arguments"] = json.dumps(request["params"]["arguments"])
    assert wait_seconds(again(request, request, 20)) == 75
    stored = to_wait_for(request, tool_answer(1, DUPLICATE), "r", 20)
    assert stored is not None
    assert stored["params"]["arguments"]["message_id"] == "msg_a"
    request["params"]["arguments"] = "[" * 100_000
    assert again(request, request, 20) is request


@pytest.mark.parametrize(
    "request_", [call("list_sessions"), call("archive"), {"id": 2, "method": "tools/list"}]
)
def test_what_does_not_wait_is_repeated_as_it_was(request_: Json) -> None:
    assert again(request_, request_, 20) is request_


def test_a_prompt_that_was_stored_is_waited_for_by_its_message() -> None:
    for action in ("send", "create_session"):
        request = call(action, token="t", relay="this", text="x", wait_seconds=60)
        repeat = tool_answer(1, DUPLICATE)
        wait = to_wait_for(request, repeat, "own", 20)
        assert wait is not None
        named = {"session": "ses_a", "message_id": "msg_a"}
        asked = {"action": "wait", "relay": "this", **named, "wait_seconds": 40}
        assert (wait["id"], wait["params"]["arguments"]) == ("own", asked)
        done = {"ok": True, "status": "done", "session": "ses_a", "message_id": "msg_a"}
        answer = joined(request, repeat, tool_answer("own", done))
        assert answer == tool_answer(1, {**DUPLICATE, **done})


@pytest.mark.parametrize(
    ("request_", "result"),
    [
        (call("send"), {"ok": True, "status": "running", "message_id": "msg_a"}),
        (call("send"), {"ok": False, "code": "REMOTE_RELAY_NOT_FOUND"}),
        (call("archive"), DUPLICATE),
        ({"id": 1, "method": "tools/list"}, DUPLICATE),
    ],
)
def test_any_other_answer_to_a_repeat_is_the_answer(request_: Json, result: Json) -> None:
    assert to_wait_for(request_, tool_answer(1, result), "own", 20) is None


def test_a_client_that_may_drop_the_call_is_answered_before_it_does() -> None:
    assert seconds_to_return(call("wait", token="t"), 100) == 60
    assert seconds_to_return({"id": 1, "method": "tools/list"}, 100) == 60
    assert seconds_to_return(call("wait"), 0) == 44
    assert seconds_to_return(call("wait"), 40) == 4
    assert seconds_to_return(call("wait"), 100) == 0


def test_a_repeat_that_waited_for_less_than_was_asked_says_how_to_go_on() -> None:
    running, done = ({"ok": True, "status": status} for status in ("running", "done"))
    told = with_way_on(call("wait"), tool_answer(1, running))["result"]["structuredContent"]
    assert "call wait" in told["note"]
    for request, result in (
        (call("wait"), done),
        (call("wait", token="t"), running),
        (call("stop"), running),
    ):
        assert with_way_on(request, tool_answer(1, result)) == tool_answer(1, result)


def test_a_failure_says_whether_it_may_have_been_carried_out() -> None:
    told = failure(call("send"), "It is gone.", "Start it.", tried=True)["result"]
    assert (told["isError"], told["structuredContent"]["code"]) == (False, "REMOTE_RELAY_CALL_FAILED")
    assert "is not known" in told["structuredContent"]["error"]
    never = failure(call("send"), "It is gone.", "Start it.", tried=False)["result"]
    assert never["structuredContent"]["error"] == "It is gone. Start it."
    other = failure({"id": 7, "method": "tools/list"}, "It is gone.", "", tried=True)
    assert (other["id"], other["error"]["message"]) == (7, "It is gone.")
