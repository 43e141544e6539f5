"""Which lines of an agent's output are messages that may be taken, and in which form. Pure."""

import json
from typing import Any, Final

UPDATES: Final = frozenset(
    {
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "current_mode_update",
        "config_option_update",
        "usage_update",
    }
)
"""The updates of a session that are of use; an agent may know more of them than we do."""
TEXT_LIMIT: Final = 8_000
"""Characters of an error's text."""
ID_LIMIT: Final = 200
"""Characters of the id of a request."""
INTERNAL_ERROR: Final = -32603


def read_message(line: bytes) -> dict[str, Any] | None:
    """Give the message on a line; None for what is none: agents write other things there too."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    return _request(message) if message.get("method") is not None else _response(message)


def is_noise(message: dict[str, Any]) -> bool:
    """Tell whether a message is an update that nobody here takes."""
    if message.get("method") != "session/update":
        return False
    params = message.get("params") or {}
    update = params.get("update")
    return not isinstance(update, dict) or update.get("sessionUpdate") not in UPDATES


def _request(message: dict[str, Any]) -> dict[str, Any] | None:
    """Give a request or notification, the latter without an id; None for one that is malformed."""
    method, params, number = message["method"], message.get("params"), message.get("id")
    if not isinstance(method, str) or not isinstance(params, dict | None):
        return None
    taken = {"method": method, "params": params or {}}
    if number is None:
        return taken
    return {**taken, "id": number} if _is_id(number) else None


def _response(message: dict[str, Any]) -> dict[str, Any] | None:
    """Give the answer to a request of ours, whose ids are all whole numbers."""
    number = message.get("id")
    if type(number) is not int:
        return None
    if "error" not in message:
        return {"id": number, "result": message.get("result")}
    error = message["error"] if isinstance(message["error"], dict) else {"message": str(message["error"])}
    code, data = error.get("code"), error.get("data")
    told = {"code": code if type(code) is int else INTERNAL_ERROR, "message": _text(error.get("message"))}
    return {"id": number, "error": {**told, "data": data}}


def _is_id(number: Any) -> bool:
    return type(number) is int or (isinstance(number, str) and len(number) <= ID_LIMIT)


def _text(text: Any) -> str:
    return str(text)[:TEXT_LIMIT] if text else "the agent gave an error without a text"
