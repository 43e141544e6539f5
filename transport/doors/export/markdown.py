"""A conversation as Markdown: what others wrote stands in fences that nothing in it can close."""

import re
from typing import Final

from showcaller.transport.doors.export.form import (
    Entry,
    ending,
    facts,
    heading,
    one_line,
    shown,
    steps_of,
    task_line,
)

_MARKS: Final = re.compile(r"(^[+-]|[\\`*_{}\[\]()#!<>|&~])")
"""What means something in a line; a plus or a dash does at its beginning alone."""
_FENCES: Final = re.compile(r"`{3,}")


class Markdown:
    """The form ``md``."""

    media_type = "text/markdown; charset=utf-8"

    def __init__(self) -> None:
        self._tasks = 0

    def begin(self, session: Entry) -> str:
        """Give the title and the facts."""
        lines = [f"# {_plain(session.get('title') or 'untitled')}", ""]
        lines += [f"- {label}: {_plain(value)}" for label, value in facts(session)]
        return "\n".join([*lines, ""])

    def message(self, message: Entry) -> str:
        """Give a prompt with what became of it, or a reply."""
        parts = [f"\n## {_plain(heading(message))}\n\n", _fenced(str(message["text"]))]
        if (steps := steps_of(message)) is not None:
            folded = f"<details><summary>{steps[0]}</summary>\n\n{_fenced(steps[1])}\n</details>\n"
            parts.insert(1 if message["role"] == "assistant" else 2, f"{folded}\n")
        if message.get("truncated"):
            parts.append("\nThe middle of a longer text was left out.\n")
        ended = ending(message)
        if ended is not None:
            parts.append(f"\n→ {_plain(ended)}\n")
        return "".join(parts)

    def task(self, task: Entry) -> str:
        """Give a task."""
        self._tasks += 1
        head = "\n## In the background\n" if self._tasks == 1 else ""
        output = _fenced(str(task["output"])) if task.get("output") else ""
        return f"{head}\n- {_plain(task_line(task))}\n" + (f"\n{output}" if output else "")

    def end(self) -> str:
        """Give nothing more."""
        return ""


def _plain(text: object) -> str:
    """Give a text as one line without any meaning in Markdown."""
    return _MARKS.sub(r"\\\1", one_line(text))


def _fenced(text: str) -> str:
    told = shown(text).rstrip("\n")
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCES.findall(told))])
    return f"{fence}text\n{told}\n{fence}\n"
