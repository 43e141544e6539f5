"""What the bridge says in the head of a request: who calls, on which connection, in which protocol."""

import base64
from typing import Any, Final

_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
_CLIENT: Final = "io.modelcontextprotocol/clientInfo"
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def head_of(request: dict[str, Any], token: str, connection: str, version: str | None) -> dict[str, str]:
    """Give the head of a request; ``version`` is what a handshake has agreed on, if there was one.

    A client of a protocol without a handshake says its version in each request.
    """
    head = {
        "authorization": f"Bearer {token}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-session-id": connection,
    }
    own = meta_of(request).get(_VERSION)
    method = request.get("method")
    if isinstance(own, str) and isinstance(method, str) and method != "initialize":
        head |= {"mcp-protocol-version": _safe(own), "mcp-method": _safe(method)}
        named = params_of(request).get(_NAMED.get(method, ""))
        if isinstance(named, str):
            head["mcp-name"] = _safe(named)
    elif version is not None:
        head["mcp-protocol-version"] = version
    return head


def client_name(request: dict[str, Any]) -> str | None:
    """Give how the client calls itself in a request that says so."""
    for told in (params_of(request).get("clientInfo"), meta_of(request).get(_CLIENT)):
        if isinstance(told, dict) and isinstance(told.get("name"), str):
            return str(told["name"])
    return None


def agreed_version(reply: dict[str, Any]) -> str | None:
    """Give the version that the answer to a handshake names."""
    result = reply.get("result")
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    return version if isinstance(version, str) and version.isascii() and version.isprintable() else None


def params_of(request: dict[str, Any]) -> dict[str, Any]:
    """Give the parameters of a request, none when they are no object."""
    params = request.get("params")
    return params if isinstance(params, dict) else {}


def meta_of(request: dict[str, Any]) -> dict[str, Any]:
    """Give what a request says about itself."""
    meta = params_of(request).get("_meta")
    return meta if isinstance(meta, dict) else {}


def _safe(value: str) -> str:
    """Write a value so that it survives as a field of a head."""
    if value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="
