"""The dialect *OpenAI chat completions*, which OpenCode speaks with a provider of its own configuration."""

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.model_dialects import content_text, event
from tests.agents.model_script import Asked, Message

STOPS = {"end": "stop", "tool": "tool_calls", "length": "length", "refusal": "content_filter"}
USAGE = {"prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17}


class ChatStream:
    """The events of one answer."""

    def __init__(self, model: str, number: int) -> None:
        self._model = model
        self._number = number

    def begin(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def text(self, text: str) -> Iterator[bytes]:
        yield self._chunk({"content": text})

    def call(self, tool: str, arguments: dict[str, Any]) -> Iterator[bytes]:
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": f"call_{self._number:06}", "type": "function", "function": function}
        yield self._chunk({"tool_calls": [call]})

    def end(self, stop: str) -> Iterator[bytes]:
        yield self._chunk({}, STOPS[stop])
        yield event("[DONE]")

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        chunk = {
            "id": f"chatcmpl-{self._number:06}",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": self._model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }
        return event({**chunk, "usage": USAGE} if finish else chunk)


class Chat:
    """``POST /v1/chat/completions``."""

    name = "chat"
    path = "/v1/chat/completions"

    def asked(self, body: dict[str, Any]) -> Asked:
        tools = tuple(str(tool["function"]["name"]) for tool in body.get("tools") or ())
        messages = tuple(_message(one) for one in body.get("messages") or ())
        return Asked(self.name, str(body.get("model")), tools, messages, body)

    def error(self, status: int, text: str) -> dict[str, Any]:
        return {
            "error": {"message": text, "type": "invalid_request_error", "param": None, "code": str(status)}
        }

    def stream(self, asked: Asked, number: int) -> ChatStream:
        return ChatStream(asked.model, number)


def _message(one: dict[str, Any]) -> Message:
    text = content_text(one.get("content"), "text")
    return Message(str(one.get("role")), text, (text,) if one.get("role") == "tool" else ())
