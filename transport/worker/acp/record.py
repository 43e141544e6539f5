"""What an agent says and does within one turn, as far as it is kept."""

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from showcaller.transport.worker.output import CommandOutput

ACTIVITY_KEPT: Final = 50
"""Lines of what it did last that are kept of a turn."""
LINE: Final = 300


class TurnRecord:
    """Takes the updates of a turn: text is streamed and kept within bounds, all else is counted and noted.

    ``stream`` gets the reply as it comes; ``secret`` is hidden in it.
    """

    def __init__(self, stream: Callable[[str], None], secret: str = "") -> None:
        self._output = CommandOutput(stream, secret=secret)
        self._is_at_a_break = False
        self._has_said = False
        self._ends_a_line = True
        self.tools = 0
        self.activity: deque[str] = deque(maxlen=ACTIVITY_KEPT)
        self.used_tokens: int | None = None

    def take(self, update: Any) -> None:
        """Take one update of the package's ``SessionNotification``; one of another kind changes nothing."""
        match update.session_update:
            case "agent_message_chunk":
                self._say(text_of(update.content))
            case "agent_thought_chunk":
                self._is_at_a_break = True
                self._note("thinks", text_of(update.content))
            case "tool_call":
                self.tools += 1
                self._is_at_a_break = True
                self._note("tool", update.title)
            case "tool_call_update":
                if update.status in {"completed", "failed"}:
                    self._note(update.status, update.title or update.tool_call_id)
            case "plan":
                self._note("plan", "; ".join(f"{entry.status}: {entry.content}" for entry in update.entries))
            case "usage_update":
                self.used_tokens = update.used
            case _:
                pass

    def said(self) -> tuple[str, bool]:
        """End the reply; gives it, and whether something in its middle was left out."""
        self._output.add(b"")
        return self._output.reply()

    def _say(self, text: str) -> None:
        if not text:
            return
        if self._is_at_a_break and self._has_said:
            # Agents say one thing before they use a tool and another after it, with nothing in between.
            text = ("\n" if self._ends_a_line else "\n\n") + text
        self._is_at_a_break = False
        self._has_said = True
        self._ends_a_line = text.endswith("\n")
        self._output.add(text.encode("utf-8", "replace"))

    def _note(self, what: str, text: str) -> None:
        self.activity.append(f"{what}: {' '.join(text.split())[:LINE]}")


def text_of(content: Any) -> str:
    """Give the text of a piece of content; of what is no text, a word that names it."""
    if content.type == "text":
        return str(content.text)
    if content.type == "resource_link":
        return f"[{content.name}]({content.uri})"
    return f"[{content.type}]"
