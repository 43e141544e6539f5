"""The dialect *OpenAI responses*, which Codex speaks."""

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.model_dialects import content_text, event
from tests.agents.model_script import Asked, Message

USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 17,
}


class ResponsesStream:
    """The events of one answer."""

    def __init__(self, model: str, number: int, namespaces: dict[str, str]) -> None:
        self._model = model
        self._number = number
        self._namespaces = namespaces
        self._said: str | None = None
        self._output: list[dict[str, Any]] = []

    def begin(self) -> bytes:
        return self._event("response.created", response=self._response("in_progress"))

    def text(self, text: str) -> Iterator[bytes]:
        if self._said is None:
            yield self._event(
                "response.output_item.added", output_index=0, item=self._message("", "in_progress")
            )
            self._said = ""
        self._said += text
        place = {"item_id": f"msg_{self._number:06}", "output_index": 0, "content_index": 0}
        yield self._event("response.output_text.delta", **place, delta=text)

    def call(self, tool: str, arguments: dict[str, Any]) -> Iterator[bytes]:
        yield from self._close()
        item = {
            "type": "function_call",
            "id": f"fc_{self._number:06}",
            "call_id": f"call_{self._number:06}",
            "name": tool,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        if self._namespaces.get(tool):
            item["namespace"] = self._namespaces[tool]
            item["name"] = tool.removeprefix(f"{self._namespaces[tool]}.")
        self._output.append(item)
        yield self._event("response.output_item.done", output_index=len(self._output) - 1, item=item)

    def end(self, stop: str) -> Iterator[bytes]:
        yield from self._close()
        if stop in {"length", "refusal"}:
            reason = "max_output_tokens" if stop == "length" else "content_filter"
            response = {**self._response("incomplete"), "incomplete_details": {"reason": reason}}
            yield self._event("response.incomplete", response=response)
            return
        yield self._event("response.completed", response=self._response("completed"))

    def _close(self) -> Iterator[bytes]:
        if self._said is None:
            return
        item = self._message(self._said, "completed")
        self._said = None
        self._output.append(item)
        yield self._event("response.output_item.done", output_index=0, item=item)

    def _message(self, text: str, status: str) -> dict[str, Any]:
        content = [{"type": "output_text", "text": text, "annotations": []}] if text else []
        return {
            "type": "message",
            "id": f"msg_{self._number:06}",
            "role": "assistant",
            "status": status,
            "content": content,
        }

    def _response(self, status: str) -> dict[str, Any]:
        return {
            "id": f"resp_{self._number:06}",
            "object": "response",
            "created_at": 1_700_000_000,
            "model": self._model,
            "status": status,
            "output": self._output,
            "usage": USAGE if status != "in_progress" else None,
        }

    def _event(self, kind: str, **fields: Any) -> bytes:
        return event({"type": kind, **fields}, kind)


class Responses:
    """``POST /v1/responses``."""

    name = "responses"
    path = "/v1/responses"

    def asked(self, body: dict[str, Any]) -> Asked:
        messages = tuple(one for item in _input(body) if (one := _message(item)) is not None)
        return Asked(self.name, str(body.get("model")), tuple(_tools(body)), messages, body)

    def error(self, status: int, text: str) -> dict[str, Any]:
        return {"error": {"message": text, "type": "invalid_request_error", "code": str(status)}}

    def stream(self, asked: Asked, number: int) -> ResponsesStream:
        return ResponsesStream(asked.model, number, dict(_tools(asked.body)))


def _input(body: dict[str, Any]) -> list[dict[str, Any]]:
    given = body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given or ())


def _tools(body: dict[str, Any]) -> dict[str, str]:
    """Give the tools by their names; one inside a namespace is named with it, and the namespace is kept."""
    found: dict[str, str] = {}
    for tool in body.get("tools") or ():
        if tool.get("type") == "namespace":
            space = str(tool.get("name"))
            found |= {f"{space}.{inner['name']}": space for inner in tool.get("tools") or ()}
        elif tool.get("name"):
            found[str(tool["name"])] = ""
    return found


def _message(item: dict[str, Any]) -> Message | None:
    kind = item.get("type", "message")
    if kind == "message":
        return Message(str(item.get("role")), content_text(item.get("content"), "input_text", "output_text"))
    if kind in {"function_call", "custom_tool_call", "local_shell_call"}:
        return Message("assistant", "")
    if kind in {"function_call_output", "custom_tool_call_output"}:
        output = item.get("output")
        return Message("user", "", (content_text(output, "input_text", "text", "output_text"),))
    return None
