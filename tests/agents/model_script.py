"""What a fake model says: a test writes down, for a word of the prompt, one answer after the other."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Message(NamedTuple):
    """One message of a request: its text, or the results of tools that it carries."""

    role: str
    text: str
    results: tuple[str, ...] = ()


class Asked(NamedTuple):
    """One request to the model, the same whichever dialect it came in.

    ``prompt`` is the last text of the user for which the script has a rule; ``step`` counts what the
    assistant has said since, and ``results`` are what its tools gave since then.
    """

    dialect: str
    model: str
    tools: tuple[str, ...]
    messages: tuple[Message, ...]
    body: dict[str, Any]
    prompt: str = ""
    step: int = 0
    results: tuple[str, ...] = ()


@dataclass(frozen=True)
class Say:
    """Text, in pieces, and then the end; ``stop`` is how it ends: ``end``, ``length`` or ``refusal``."""

    text: str
    stop: str = "end"
    pieces: int = 3


@dataclass(frozen=True)
class CallTool:
    """A call of the tool whose name ends so, or is so."""

    tool: str
    arguments: dict[str, Any]

    def found(self, tools: Sequence[str]) -> str | None:
        """Give the tool's full name among those that the agent offers; None when it offers no such tool."""
        return next((name for name in tools if name == self.tool or name.endswith(self.tool)), None)


@dataclass(frozen=True)
class Fail:
    """A refusal of the whole request with an HTTP status; clients should not try again, unless ``retry``."""

    status: int
    text: str
    retry: bool = False


@dataclass(frozen=True)
class Cut:
    """Some text, and then the connection is gone in the middle of the stream."""

    text: str


@dataclass(frozen=True)
class Hold:
    """Some text, and then nothing until ``gate`` is opened, the rest, and the end."""

    text: str
    rest: str = ""
    gate: threading.Event = field(default_factory=threading.Event)


Answer = Say | CallTool | Fail | Cut | Hold
Step = Answer | Callable[[Asked], Answer]


class Script:
    """Rules by words of prompts. The model keeps nothing: what it says follows from what it is sent."""

    def __init__(self) -> None:
        self._rules: list[tuple[str, tuple[Step, ...]]] = []

    def when(self, word: str, *steps: Step) -> None:
        """Answer a prompt that holds the word with these steps; the last one is said again and again."""
        assert steps, "a rule says something"
        self._rules.insert(0, (word, steps))

    def placed(self, asked: Asked) -> Asked:
        """Find the prompt that a request is about."""
        for index in range(len(asked.messages) - 1, -1, -1):
            message = asked.messages[index]
            if message.role == "user" and not message.results and self._rule(message.text) is not None:
                after = asked.messages[index + 1 :]
                return asked._replace(
                    prompt=message.text,
                    step=sum(1 for one in after if one.role == "assistant"),
                    results=tuple(result for one in after for result in one.results),
                )
        return asked

    def answer(self, asked: Asked) -> Answer:
        """Give what is said to a request whose prompt was found; agents ask for titles too, without tools."""
        steps = self._rule(asked.prompt)
        if steps is None:
            return Say("The script has no rule for this.")
        step = steps[min(asked.step, len(steps) - 1)]
        answer = step(asked) if callable(step) else step
        if isinstance(answer, CallTool) and answer.found(asked.tools) is None:
            return Say(f"There is no tool {answer.tool}; there are {', '.join(asked.tools) or 'none'}.")
        return answer

    def _rule(self, text: str) -> tuple[Step, ...] | None:
        return next((steps for word, steps in self._rules if word in text), None)
