"""What an agent says and does within one turn, as far as it is kept."""

from collections import deque
from typing import Any, Final, Protocol

from showcaller.actors.contract.limits import ACTIVITY_CHARACTERS, ACTIVITY_LINES
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

    ``secret`` is hidden in both. Of the lines the last ones are kept; there, pieces of one thought are one.
    """

    def __init__(self, teller: Teller, secret: str = "") -> None:
        self._teller = teller
        self._secret = secret
        self._output = CommandOutput(teller.write, secret=secret)
        self._is_at_a_break = False
        self._has_said = False
        self._ends_a_line = True
        self.tools = 0
        self._kept: deque[str] = deque(maxlen=ACTIVITY_LINES)
        self._noted = 0
        self._thought = ""

    def take(self, update: Any) -> None:
        """Take one update of the package's ``SessionNotification``; one of another kind changes nothing."""
        match update.session_update:
            case "agent_message_chunk":
                self._say(text_of(update.content))
            case "agent_thought_chunk":
                self._is_at_a_break = True
                self._think(text_of(update.content))
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

    def activity(self) -> tuple[str, ...]:
        """Give the last of what it did beside its text, within ACTIVITY_CHARACTERS, and what came before."""
        self._end_thought()
        left, shown = ACTIVITY_CHARACTERS, deque[str]()
        for line in reversed(self._kept):
            left -= len(line) + 1
            if left < 0:
                break
            shown.appendleft(line)
        before = self._noted - len(shown)
        return (f"{before} earlier ones are left out", *shown) if before else tuple(shown)

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

    def _think(self, text: str) -> None:
        self._teller.act(self._line("thinks", text))
        if len(self._thought) < 4 * LINE:
            self._thought += text

    def _end_thought(self) -> None:
        if self._thought:
            self._keep(self._line("thinks", self._thought))
            self._thought = ""

    def _note(self, what: str, text: str) -> None:
        line = self._line(what, text)
        self._teller.act(line)
        self._end_thought()
        if what == "usage" and self._kept and self._kept[-1].startswith("usage: "):
            self._kept[-1] = line
        else:
            self._keep(line)

    def _keep(self, line: str) -> None:
        self._kept.append(line)
        self._noted += 1

    def _line(self, what: str, text: str) -> str:
        if self._secret:
            text = text.replace(self._secret, HIDDEN.decode())
        return one_line(f"{what}: {text}")


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
