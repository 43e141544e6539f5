"""Somebody who hands a writer commands, waits for what became of them, and looks into the store."""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from showcaller.store.batch import Answer, Batch, Command
from showcaller.store.commands.queue import NewMessage
from showcaller.store.commands.sessions import NewSession
from showcaller.store.database import open_for_reading
from showcaller.store.readers import run_query
from showcaller.store.writer import InlineWriter, ProcessWriter

Writer = InlineWriter | ProcessWriter
PATIENCE = 30.0

QUEUE_LIMIT = {"queue_limit": 100}
LIMITED = {"accept_message": QUEUE_LIMIT, "retry_item": QUEUE_LIMIT}
"""What is given to commands that take a limit when a test does not care."""

type_of_writer: dict[str, Callable[..., Writer]] = {"inline": InlineWriter, "process": ProcessWriter}


def session_of(name: str, **more: Any) -> NewSession:
    """Make a session called ``name``."""
    values: Any = {
        "id": f"ses_{name}",
        "title": f"Session {name}",
        "provider": "command",
        "mode": "agent",
        "origin": "owner",
        "created_at": 1_000,
        **more,
    }
    made: NewSession = values
    return made


def message_of(name: str, **more: Any) -> NewMessage:
    """Make a prompt called ``name``."""
    values: Any = {
        "id": f"msg_{name}",
        "origin": "owner",
        "text": f"Do {name}",
        "created_at": 1_000,
        **more,
    }
    made: NewMessage = values
    return made


def ending(name: str, **more: Any) -> dict[str, Any]:
    """Make the arguments of an ``end_turn`` with a reply."""
    return {
        "message": f"msg_{name}",
        "status": "done",
        "stop_reason": "end",
        "error_class": None,
        "error_text": None,
        "reply": {"id": f"msg_{name}_reply", "text": f"{name} is done", "truncated": False},
        "exit_code": 0,
        "seconds": 0.25,
        "at": 3_000,
        **more,
    }


class Desk:
    """A writer with somebody who counts commands and batches for it."""

    def __init__(self, path: Path, writer: Writer, incarnation: str = "first") -> None:
        self.path = path
        self.writer = writer
        self.incarnation = incarnation
        self.batches = count(1)
        self.commands = count(1)

    def batch(self, *commands: tuple[str, dict[str, Any]]) -> Batch:
        """Make the next batch; commands that take a limit and do not name one get the usual one."""
        numbered = [
            Command(next(self.commands), name, {**LIMITED.get(name, {}), **arguments})
            for name, arguments in commands
        ]
        return Batch(self.incarnation, next(self.batches), numbered)

    def give(self, batch: Batch) -> list[Answer]:
        """Submit a batch and wait for its answers."""
        answered: SimpleQueue[Sequence[Answer]] = SimpleQueue()
        self.writer.submit(batch, answered.put)
        answers = list(answered.get(timeout=PATIENCE))
        assert [answer.number for answer in answers] == [command.number for command in batch.commands]
        return answers

    def run(self, *commands: tuple[str, dict[str, Any]]) -> list[Answer]:
        """Have these commands run as one batch."""
        return self.give(self.batch(*commands))

    def one(self, name: str, /, **arguments: Any) -> Answer:
        """Have one command run as a batch of its own."""
        (answer,) = self.run((name, arguments))
        return answer

    def value(self, name: str, /, **arguments: Any) -> Any:
        """Have one command run that must go through; gives its value."""
        answer = self.one(name, **arguments)
        assert answer.error is None, answer
        return answer.value

    def conflict(self, name: str, /, **arguments: Any) -> str:
        """Have one command run whose guard must not hold; gives which."""
        answer = self.one(name, **arguments)
        assert answer.error == "conflict", answer
        assert answer.detail
        what: str = answer.value
        return what

    def read(self, name: str, /, **arguments: Any) -> Any:
        """Run a query on a fresh read-only connection."""
        database = open_for_reading(self.path)
        try:
            return run_query(database, name, arguments)
        finally:
            database.close()

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run plain SQL on a fresh read-only connection."""
        database = open_for_reading(self.path)
        try:
            return database.connection.execute(sql, parameters).fetchall()
        finally:
            database.close()

    def session(self, name: str, *messages: str, **more: Any) -> None:
        """Make a session with these prompts in its queue."""
        self.value("create_session", session=session_of(name, **more), message=None)
        for message in messages:
            self.value("accept_message", message=message_of(message, session=f"ses_{name}"))

    def handed(self, name: str, *messages: str, **more: Any) -> None:
        """Make a session whose prompts are all with a worker."""
        self.session(name, *messages, **more)
        for message in messages:
            self.value("hand_over", message=f"msg_{message}", worker="wrk_1", at=2_000)

    def close(self) -> None:
        """Close the writer."""
        self.writer.close()
