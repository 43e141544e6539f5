"""What the door answers with: JSON, with the HTTP status that a refusal's code stands for."""

import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.transport.doors.http.bodies import UnreadBody

HEADERS: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_CODES: Final = {code.value: code for code in Code}


def json_bytes(value: Any) -> bytes:
    """Write a value as JSON in one line; plain ASCII, so that any text has a form."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def result_reply(result: Mapping[str, Any]) -> Response:
    """Answer with a call's result, whether it was carried out or refused."""
    code = _CODES.get(str(result.get("code")))
    refused = not result.get("ok")
    status = _status(code) if refused else 200
    headers = dict(HEADERS)
    if code is Code.UNAUTHENTICATED:
        headers["www-authenticate"] = "Bearer"
    if refused and "retryAfterSeconds" in result:
        headers["retry-after"] = str(result["retryAfterSeconds"])
    return Response(json_bytes(result), status, headers, "application/json")


def _status(code: Code | None) -> int:
    if code is Code.CANCELLED:  # a stop has crossed the call
        return 409
    return (None if code is None else code.http_status) or 500


def refusal_reply(refusal: Refusal) -> Response:
    """Answer with a refusal; its connection is closed when the body was left unread."""
    reply = result_reply(refusal.to_result())
    if isinstance(refusal, UnreadBody):
        reply.headers["connection"] = "close"
    return reply
