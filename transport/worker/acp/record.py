"""What an agent says and does within one turn, as far as it is kept."""

from typing import Any, Final, Protocol

from showcaller.transport.worker.output import HIDDEN, CommandOutput

LINE: Final = 300
"""Characters of a line that tells what an agent does."""


class Teller(Protocol):
    """Who is told what an agent says and does: the turn's sink."""

    def write(self, text: str) -> None:
        """Stream a piece of the reply."""

    def act(self, line: str) -> None:
        """Tell in one line what it does."""


class TurnRecord:
    """Takes the updates of a turn: text is streamed and kept within bounds, all else is told in lines.

    ``secret`` is hidden in both.
    """

    def __init__(self, teller: Teller, secret: str = "") -> None:
        self._teller = teller
        self._secret = secret
        self._output = CommandOutput(teller.write, secret=secret)
        self._is_at_a_break = False
        self._has_said = False
        self._ends_a_line = True
        self.tools = 0

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
                self._note("usage", f"{update.used} of {update.size} tokens")
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
        if self._secret:
            text = text.replace(self._secret, HIDDEN.decode())
        self._teller.act(one_line(f"{what}: {text}"))


def one_line(text: str) -> str:
    """Give a text as one line of what can be printed, shortened to LINE characters. Pure."""
    words = " ".join(text[: 4 * LINE].split())
    printable = "".join(character if character.isprintable() else "\ufffd" for character in words)
    return printable if len(printable) <= LINE else f"{printable[: LINE - 1]}…"


def text_of(content: Any) -> str:
    """Give the text of a piece of content; of what is no text, a word that names it."""
    if content.type == "text":
        return str(content.text)
    if content.type == "resource_link":
        return f"[{content.name}]({content.uri})"
    return f"[{content.type}]"
