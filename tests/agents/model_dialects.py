"""The three ways in which agents talk to a model: what they ask, and the streams that they expect."""

import json
from collections.abc import Iterator
from typing import Any, Protocol

from tests.agents.model_script import Asked


def event(data: Any, name: str | None = None) -> bytes:
    """Give one server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def pieces(text: str, count: int) -> list[str]:
    """Cut a text into so many pieces; a short one into fewer."""
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)]


def content_text(content: Any, *kinds: str) -> str:
    """Give the text of a content that is a string or a list of parts of these types."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or () if part.get("type") in kinds)


class Stream(Protocol):
    """The events of one answer, part by part."""

    def begin(self) -> bytes:
        """Open the answer."""
        ...

    def text(self, text: str) -> Iterator[bytes]:
        """Say a piece of text; pieces that follow each other are one."""
        ...

    def call(self, tool: str, arguments: dict[str, Any]) -> Iterator[bytes]:
        """Call a tool."""
        ...

    def end(self, stop: str) -> Iterator[bytes]:
        """Close what is open and end: ``end``, ``tool``, ``length`` or ``refusal``."""
        ...


class Dialect(Protocol):
    """One of the three: where it is asked, and how requests, errors and streams look."""

    name: str
    path: str

    def asked(self, body: dict[str, Any]) -> Asked:
        """Read a request."""
        ...

    def error(self, status: int, text: str) -> dict[str, Any]:
        """Give the body of a refusal."""
        ...

    def stream(self, asked: Asked, number: int) -> Stream:
        """Begin an answer; ``number`` makes its ids."""
        ...
