"""An agent that answers every prompt at once, on the standard library alone: what is measured is not its own.

It speaks as much of the Agent Client Protocol as a client of one conversation needs. Started by its path.
"""

import json
import sys
from typing import Any, Final

REPLY: Final = "hello"
METHOD_NOT_FOUND: Final = -32601


def answer_to(method: str) -> Any:
    """Give the result of a request; None for one that this agent does not know."""
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": 1,
            "agentInfo": {"name": "instant", "version": "1"},
            "agentCapabilities": {"mcpCapabilities": {"http": True}},
        },
        "session/new": {"sessionId": "instant"},
        "session/prompt": {"stopReason": "end_turn"},
    }
    return results.get(method)


def messages_for(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Give what is written for one message of the client: nothing for a notification."""
    if "id" not in request or "method" not in request:
        return []
    result = answer_to(request["method"])
    if result is None:
        error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
        return [{"jsonrpc": "2.0", "id": request["id"], "error": error}]
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": result}
    if request["method"] != "session/prompt":
        return [answer]
    said = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": REPLY}}
    told = {"sessionId": request["params"]["sessionId"], "update": said}
    return [{"jsonrpc": "2.0", "method": "session/update", "params": told}, answer]


def main() -> None:
    """Serve until standard input ends."""
    for line in sys.stdin.buffer:
        for message in messages_for(json.loads(line)):
            sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
