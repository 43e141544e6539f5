"""What a body posted to the MCP door is: a request, a notification, or no message at all."""

import json
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.json_text import parse_json
from showcaller.actors.contract.limits import CALL_PARTS

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INTERNAL_ERROR: Final = -32603
CANCELLED: Final = -32800
"""What a request gets that its client has taken back: over HTTP even that has an answer."""

RequestId = int | str
JsonObject = dict[str, Any]


class Request(NamedTuple):
    """A request of JSON-RPC, which is owed an answer under its id."""

    id: RequestId
    method: str
    params: JsonObject | None

    def to_bytes(self) -> bytes:
        """Give it as a body to post."""
        return json.dumps({"jsonrpc": "2.0", **self._asdict()}, allow_nan=False).encode()


class Notification(NamedTuple):
    """A message that is owed no answer; also an answer to a request, of which we make none."""

    method: str
    params: JsonObject | None


class NoMessage(Exception):
    """A body is no message of JSON-RPC: the error's code and what to mend."""

    def __init__(self, code: int, error: str) -> None:
        super().__init__(error)
        self.code = code
        self.error = error


def message_in(body: bytes, most_bytes: int) -> Request | Notification:
    """Read a body strictly, as any JSON that comes in; raises ``NoMessage``."""
    try:
        value: Any = parse_json(body, most_bytes, CALL_PARTS)
    except Refusal as refusal:
        raise NoMessage(PARSE_ERROR, refusal.error) from refusal
    if isinstance(value, list):
        raise NoMessage(INVALID_REQUEST, "One message at a time: a batch of JSON-RPC is not taken.")
    if not isinstance(value, dict):
        raise NoMessage(INVALID_REQUEST, "A message of JSON-RPC is an object.")
    return _message(value)


def _message(value: JsonObject) -> Request | Notification:
    if value.get("jsonrpc") != "2.0":
        raise NoMessage(INVALID_REQUEST, 'jsonrpc must be "2.0".')
    if "method" not in value and ("result" in value or "error" in value):
        return Notification("", None)
    method, params = value.get("method"), value.get("params")
    if not isinstance(method, str) or not method:
        raise NoMessage(INVALID_REQUEST, "method must be text.")
    if params is not None and not isinstance(params, dict):
        raise NoMessage(INVALID_REQUEST, "params must be an object.")
    if "id" not in value:
        return Notification(method, params)
    request = request_id(value["id"])
    if request is None:
        raise NoMessage(INVALID_REQUEST, "id must be text or a whole number.")
    return Request(request, method, params)


def with_arguments_read(request: Request, most_bytes: int) -> Request:
    """Give a call of a tool whose arguments came as a text of JSON with what that holds; others as they are.

    An empty list counts as none: some clients write an object without fields so. Raises ``Refusal`` for a
    text that is no JSON, or holds something else than an object.
    """
    arguments = None if request.params is None else request.params.get("arguments")
    if arguments == []:
        arguments = ""
    if request.method != "tools/call" or not isinstance(arguments, str):
        return request
    held = parse_json(arguments, most_bytes, CALL_PARTS) if arguments.strip() else None
    if not isinstance(held, dict) and held not in (None, "", []):  # these count as absent
        raise invalid('The arguments are text that holds no JSON object, as in {"action": "list_relays"}.')
    return request._replace(params={**(request.params or {}), "arguments": held or {}})


def request_id(value: object) -> RequestId | None:
    """Give a value as the id of a request; None when it cannot be one."""
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def answer(request: RequestId | None, result: JsonObject) -> JsonObject:
    """Give the answer to a request."""
    return {"jsonrpc": "2.0", "id": request, "result": result}


def error_answer(request: RequestId | None, code: int, error: str, data: Any = None) -> JsonObject:
    """Give the answer to a request that failed; without an id to what could not be read."""
    told: JsonObject = {"code": code, "message": error}
    if data is not None:
        told["data"] = data
    return {"jsonrpc": "2.0", "id": request, "error": told}
