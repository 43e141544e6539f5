"""A conversation as JSON Lines: the session, then each message and task, as programs read them."""

import json
from typing import Any

from showcaller.transport.doors.export.form import Entry


class JsonLines:
    """The form ``jsonl``; plain ASCII, so that any text has a form and none steers a terminal."""

    media_type = "application/x-ndjson"

    def begin(self, session: Entry) -> str:
        """Give the line of the session."""
        return _line({"session": session})

    def message(self, message: Entry) -> str:
        """Give the line of a prompt or a reply."""
        return _line({"message": message})

    def task(self, task: Entry) -> str:
        """Give the line of a task."""
        return _line({"task": task})

    def end(self) -> str:
        """Give nothing more."""
        return ""


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False) + "\n"
