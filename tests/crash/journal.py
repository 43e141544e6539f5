"""What those outside of a relay that dies have seen, in a file that outlives it: the books of a crash."""

import json
import os
from pathlib import Path
from typing import Any

from showcaller.actors.contract.worker import RunTurn, TurnEnded
from tests.simulation.books import Books, Prompted


class Journal:
    """Appends what happens, each line at once; what was written stays however the process ends."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def note(self, kind: str, /, **facts: Any) -> None:
        """Write one line."""
        os.write(self._descriptor, (json.dumps([kind, facts]) + "\n").encode())

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def read_books(path: Path) -> Books:
    """Make books of what was noted; raises Broken when that alone breaks a promise."""
    books = Books()
    begun: dict[str, int] = {}
    answered = 0
    working: dict[str, str] = {}
    for line in path.read_text().splitlines():
        kind, facts = json.loads(line)
        if kind == "opened":
            working.clear()
        elif kind == "begun":
            begun.setdefault(facts["text"], answered)
        elif kind == "answered":
            answered += 1
            _answered(books, facts, begun[facts["text"]], answered)
        elif kind == "handed":
            run = RunTurn(**facts)
            books.handed(run, working)
            working[run.session] = run.turn
        elif kind == "ended":
            end = TurnEnded(**facts)
            working.pop(end.session, None)
            books.told_end(end)
        elif kind == "cut":
            books.excused.update(facts["turns"])
        elif kind == "stopped group":
            books.cut_groups.add(facts["group"])
    return books


def unanswered_calls(path: Path) -> list[tuple[str, str, dict[str, Any]]]:
    """Give the calls that were begun and had no answer: action, text, and further arguments."""
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    answered = {facts["text"] for kind, facts in lines if kind == "answered"}
    begun = [facts for kind, facts in lines if kind == "begun"]
    return [
        (facts["action"], facts["text"], facts["more"]) for facts in begun if facts["text"] not in answered
    ]


def _answered(books: Books, facts: dict[str, Any], begun: int, answered: int) -> None:
    result, text = facts["result"], facts["text"]
    if not result["ok"]:
        books.refused[text] = result["error"]
        return
    books.refused.pop(text, None)
    message = result["message_id"]
    began = -1 if result["status"] == "duplicate" else begun
    books.acknowledge(Prompted(result["session"], message, text, began, answered))
    if result["status"] != "duplicate":
        books.see(message, result, begun, answered)
