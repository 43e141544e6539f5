"""What a form of export makes of the parts of a conversation."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, Protocol

FormName = Literal["md", "html", "jsonl"]
Entry = Mapping[str, Any]
"""A session, message or task as the relay describes it: plain values under the names of results."""

_UNSEEN: Final = re.compile(
    "(?![\n\t])[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)


class Form(Protocol):
    """One form: each part is made into text by itself, in the order in which it is written."""

    @property
    def media_type(self) -> str:
        """What the whole is, for HTTP."""
        ...

    def begin(self, session: Entry) -> str:
        """Give what comes first, with what is known of the session."""
        ...

    def message(self, message: Entry) -> str:
        """Give a prompt or a reply."""
        ...

    def task(self, task: Entry) -> str:
        """Give something that ran in the background."""
        ...

    def end(self) -> str:
        """Give what comes last."""
        ...


def shown(text: str) -> str:
    """Give a text in which what could steer a terminal, hide or turn a part of it stands as a mark."""
    return _UNSEEN.sub("\ufffd", text.replace("\r\n", "\n"))


def one_line(text: object) -> str:
    """Give a text as one line, harmless as ``shown`` makes it."""
    return " ".join(shown(str(text)).split())


def facts(session: Entry) -> Iterator[tuple[str, str]]:
    """Give what stands above a conversation, each with its label."""
    group = session.get("group") or {}
    told = {
        "session": session.get("id"),
        "provider": session.get("provider"),
        "model": session.get("model"),
        "folder": session.get("cwd"),
        "group": group.get("name"),
        "started by": session.get("createdBy"),
        "state": session.get("state"),
        "messages": session.get("messageCount"),
        "last activity": session.get("lastActivityAt"),
    }
    return ((label, one_line(value)) for label, value in told.items() if value is not None)


def heading(message: Entry) -> str:
    """Give who says something, when, and how."""
    parts = ["Prompt" if message["role"] == "user" else "Reply", str(message["at"])]
    if message.get("via"):
        parts.append(f"via {one_line(message['via'])}")
    return " · ".join(parts)


def ending(message: Entry) -> str | None:
    """Give what became of a prompt; None for a reply."""
    if not message.get("status"):
        return None
    words = {"handed": "running"}
    told = words.get(str(message["status"]), str(message["status"]))
    if message.get("stopReason") not in (None, "end"):
        told += f" ({message['stopReason']})"
    if message.get("exitCode"):
        told += f", exit code {message['exitCode']}"
    if message.get("seconds") is not None:
        told += f", {after(message['seconds'])}"
    if message.get("errorText"):
        told += f": {one_line(message['errorText'])}"
    return told


def steps_of(message: Entry) -> tuple[str, str] | None:
    """Give what an agent did beside its text, headed by how much that is; None for nothing."""
    lines = [one_line(line) for line in message.get("activity") or ()]
    if not lines:
        return None
    return f"What it did: {len(lines)} step{'' if len(lines) == 1 else 's'}", "\n".join(lines)


def after(seconds: float) -> str:
    """Give how long a turn ran, as people read it everywhere."""
    return f"after {seconds:,.2f} s"


def task_line(task: Entry) -> str:
    """Give what is known of a task, in one line."""
    code = "" if task.get("exitCode") is None else f", exit code {task['exitCode']}"
    return f"{one_line(task['description'])} · {task['status']}{code} · since {task['startedAt']}"
