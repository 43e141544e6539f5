"""How a call is taken up again whose relay has gone: pure; times are seconds since the call began."""

import json
from typing import Any, Final

Json = dict[str, Any]

RETURN_SECONDS: Final = 60.0
"""Seconds in which a relay that has gone may come back."""
IMPATIENT_SECONDS: Final = 45.0
"""Seconds after which a client that hears of no progress may drop a call."""
DEFAULT_WAIT: Final = 120.0
_ANSWER: Final = 1.0
_PROMPTS: Final = frozenset({"send", "create_session"})
_WAITS: Final = _PROMPTS | {"wait"}
_UNFINISHED: Final = frozenset({"queued", "running", "waiting_for_answer"})
GO_ON: Final = (
    "Your client takes no longer calls, and the relay was away meanwhile: call wait with this session and "
    "message_id to go on."
)
CALL_FAILED: Final = "REMOTE_RELAY_CALL_FAILED"
UNAVAILABLE: Final = "REMOTE_RELAY_UNAVAILABLE"


def arguments_of(request: Json) -> Json | None:
    """Give the arguments of a call of the tool; None for any other request."""
    if request.get("method") != "tools/call":
        return None
    params = request.get("params")
    arguments = params.get("arguments") if isinstance(params, dict) else None
    if isinstance(arguments, str):  # some clients send them so, and the relay takes what they hold
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):  # the relay will say so
            return {}
    return arguments if isinstance(arguments, dict) else {}


def progress_token(request: Json) -> str | int | None:
    """Give the token under which the client wants to hear of progress; None when it does not."""
    params = request.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, str | int) and not isinstance(token, bool) else None


def seconds_to_return(request: Json, passed: float) -> float:
    """Say how long the relay's return is waited for: a client that may drop the call is answered before."""
    if arguments_of(request) is None or progress_token(request) is not None:
        return RETURN_SECONDS
    return max(0.0, min(RETURN_SECONDS, IMPATIENT_SECONDS - _ANSWER - passed))


def again(message: Json, request: Json, passed: float) -> Json:
    """Give a message to send again, under the same id, so that a write that was stored is known.

    It waits as long as is left of what the client asked for in its ``request``.
    """
    arguments, asked = arguments_of(message), arguments_of(request)
    if arguments is None or asked is None or _action(arguments) not in _WAITS:
        return message
    return _with_arguments(message, {**arguments, "wait_seconds": _left(request, asked, passed)})


def to_wait_for(request: Json, reply: Json, request_id: str, passed: float) -> Json | None:
    """Give the request that waits for a prompt which was stored before its relay went.

    None when the reply to the repeat says anything else than that it is one, and so is the answer.
    """
    arguments = arguments_of(request)
    result = result_of(reply)
    if arguments is None or result is None or _action(arguments) not in _PROMPTS:
        return None
    if result.get("status") != "duplicate" or "message_id" not in result:
        return None
    named = {
        "action": "wait",
        "relay": arguments.get("relay") or "this",
        "session": result.get("session"),
        "message_id": result["message_id"],
        "wait_seconds": _left(request, arguments, passed),
    }
    return {**_with_arguments(request, named), "id": request_id}


def joined(request: Json, repeat: Json, waited: Json) -> Json:
    """Give the answer to the first request: what the repeat says of the prompt, and what has become of it."""
    first, then = result_of(repeat), result_of(waited)
    if first is None or then is None or not then.get("ok"):
        return {**waited, "id": request["id"]}
    return tool_answer(request["id"], {**first, **then})


def with_way_on(request: Json, reply: Json) -> Json:
    """Add how to go on to an answer to a repeat that waited for less than its client had asked for."""
    arguments, result = arguments_of(request), result_of(reply)
    if arguments is None or result is None or _action(arguments) not in _WAITS or progress_token(request):
        return reply
    if result.get("status") not in _UNFINISHED or "note" in result:
        return reply
    return tool_answer(request["id"], {**result, "note": GO_ON})


def result_of(reply: Json) -> Json | None:
    """Give the tool's result in an answer; None when it is another one."""
    result = reply.get("result")
    content = result.get("structuredContent") if isinstance(result, dict) else None
    return content if isinstance(content, dict) else None


def tool_answer(request_id: Any, result: Json) -> Json:
    """Give a result of the tool as the answer to a request."""
    text = {"type": "text", "text": json.dumps(result, ensure_ascii=False)}
    told = {"content": [text], "structuredContent": result, "isError": False}
    return {"jsonrpc": "2.0", "id": request_id, "result": told}


def failure(request: Json, why: str, way_out: str, *, tried: bool) -> Json:
    """Give the answer to a request that no relay has answered; ``tried``: one may have carried it out."""
    error = f"{why} {way_out}".strip()
    arguments = arguments_of(request)
    if arguments is None:
        return {"jsonrpc": "2.0", "id": request.get("id"), "error": {"code": -32000, "message": error}}
    if tried and _action(arguments) != "wait":
        error += " Whether this was carried out is not known: look before you do it again."
    return tool_answer(request.get("id"), {"ok": False, "code": CALL_FAILED, "error": error})


def refused(request: Json, refusal: Json) -> Json:
    """Give the answer to a request that the relay would not even look at, such as one with a wrong token."""
    if arguments_of(request) is not None:
        return tool_answer(request.get("id"), refusal)
    error = str(refusal.get("error", "The relay refused it and gave no reason."))
    return {"jsonrpc": "2.0", "id": request.get("id"), "error": {"code": -32000, "message": error}}


def _action(arguments: Json) -> str:
    return str(arguments.get("action", "")).strip()


def _left(request: Json, arguments: Json, passed: float) -> int:
    asked = arguments.get("wait_seconds")
    try:
        seconds = DEFAULT_WAIT if asked is None or asked == "" else float(asked)
    except (TypeError, ValueError):
        seconds = DEFAULT_WAIT
    if progress_token(request) is None:
        seconds = min(seconds, IMPATIENT_SECONDS - _ANSWER)
    return max(0, int(seconds - passed))


def _with_arguments(request: Json, arguments: Json) -> Json:
    return {**request, "params": {**request["params"], "name": "relay_tool", "arguments": arguments}}
