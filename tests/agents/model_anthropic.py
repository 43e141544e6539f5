"""The dialect *Anthropic messages*, which Claude Code speaks."""

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.model_dialects import content_text, event
from tests.agents.model_script import Asked, Message

STOPS = {"end": "end_turn", "tool": "tool_use", "length": "max_tokens", "refusal": "refusal"}
ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicStream:
    """The events of one answer."""

    def __init__(self, model: str, number: int) -> None:
        self._model = model
        self._number = number
        self._index = -1
        self._open = False

    def begin(self) -> bytes:
        message: dict[str, Any] = {
            "id": f"msg_{self._number:06}",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 1},
        }
        return self._event("message_start", message=message)

    def text(self, text: str) -> Iterator[bytes]:
        if not self._open:
            yield self._start({"type": "text", "text": ""})
            self._open = True
        yield self._delta({"type": "text_delta", "text": text})

    def call(self, tool: str, arguments: dict[str, Any]) -> Iterator[bytes]:
        yield from self._close()
        call = {"type": "tool_use", "id": f"toolu_{self._number:06}", "name": tool, "input": {}}
        yield self._start(call)
        yield self._delta({"type": "input_json_delta", "partial_json": json.dumps(arguments)})
        self._open = True
        yield from self._close()

    def end(self, stop: str) -> Iterator[bytes]:
        yield from self._close()
        ends = {"stop_reason": STOPS[stop], "stop_sequence": None}
        yield self._event("message_delta", delta=ends, usage={"output_tokens": 7})
        yield self._event("message_stop")

    def _start(self, block: dict[str, Any]) -> bytes:
        self._index += 1
        return self._event("content_block_start", index=self._index, content_block=block)

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return self._event("content_block_delta", index=self._index, delta=delta)

    def _close(self) -> Iterator[bytes]:
        if self._open:
            yield self._event("content_block_stop", index=self._index)
        self._open = False

    def _event(self, kind: str, **fields: Any) -> bytes:
        return event({"type": kind, **fields}, kind)


class Anthropic:
    """``POST /v1/messages``."""

    name = "anthropic"
    path = "/v1/messages"

    def asked(self, body: dict[str, Any]) -> Asked:
        tools = tuple(str(tool.get("name")) for tool in body.get("tools") or ())
        messages = tuple(_message(one) for one in body.get("messages") or ())
        return Asked(self.name, str(body.get("model")), tools, messages, body)

    def error(self, status: int, text: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": ERRORS.get(status, "api_error"), "message": text}}

    def stream(self, asked: Asked, number: int) -> AnthropicStream:
        return AnthropicStream(asked.model, number)


def _message(one: dict[str, Any]) -> Message:
    content = one.get("content")
    parts = content if isinstance(content, list) else []
    results = tuple(
        content_text(part.get("content"), "text") for part in parts if part.get("type") == "tool_result"
    )
    return Message(str(one.get("role")), content_text(content, "text"), results)
