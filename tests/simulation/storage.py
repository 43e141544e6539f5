"""The store of a simulated relay: the real code over a real file, whose process dies, stalls and refuses."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from showcaller.store.batch import Answer, Batch, BatchDone
from showcaller.store.database import OpenDatabase, open_for_reading, open_for_writing
from showcaller.store.errors import StoreFull, StoreUnavailable, WriterGone
from showcaller.store.readers import QueryDone, run_query
from showcaller.store.transaction import committed_answers, refused, run_batch
from showcaller.store.writer import RESTARTS
from tests.simulation.surroundings import Surroundings


class ActorFails(RuntimeError):
    """Planted where a port is called, so that the actor that calls it fails."""


class SimWriter:
    """A writer port whose process dies before or after a commit, as ``ProcessWriter`` survives it.

    What it answers comes later. ``dies``, ``loses`` (the answers, with the process), ``again`` (a batch is
    run twice) and ``breaks`` (the actor that submits fails) are chances.
    """

    def __init__(self, path: Path, world: Surroundings, owner: str, chances: "WriterChances") -> None:
        self._path = path
        self._world = world
        self._owner = owner
        self._chances = chances
        self._database = open_for_writing(path)
        self._under_way: list[Batch] = []
        self._deaths = 0
        self._ended = False

    def submit(self, batch: Batch, done: BatchDone) -> None:
        """Take a batch; it is run later, and answered after that."""
        world = self._world
        breaks = world.happens(self._chances.breaks)
        if not breaks or world.happens(0.5):
            self._under_way.append(batch)
            world.later(lambda: self._commit(batch, done), owner=self._owner, channel=self)
        if breaks:
            world.say("writer", f"the actor fails over batch {batch.number}")
            raise ActorFails("planted: the writer's actor fails")

    def _commit(self, batch: Batch, done: BatchDone) -> None:
        """Run the batch and have its answers on their way; in the order of submission."""
        answers = self._answers(batch)
        self._under_way.remove(batch)
        self._world.say("writer", f"batch {batch.number}: {told(batch, answers)}")
        self._world.committed(batch, answers)
        self._world.later(lambda: done(answers), owner=self._owner, channel=self)

    def _answers(self, batch: Batch) -> Sequence[Answer]:
        world = self._world
        if world.storage_fails:
            full = StoreFull(self._path, "the disk is full and nothing was stored")
            return committed_answers(self._database, batch) or refused(batch, full)
        self._deaths = 0
        while world.happens(self._chances.dies):
            world.say("writer", f"dies before batch {batch.number}")
            self._start_again()
            self._deaths += 1
            if self._deaths > RESTARTS:
                gone = WriterGone(self._path, "its writer process died too often")
                return committed_answers(self._database, batch) or refused(batch, gone)
        answers = run_batch(self._database, batch)
        while world.happens(self._chances.loses):
            world.say("writer", f"dies after batch {batch.number}")
            self._start_again()
            answers = run_batch(self._database, batch)
        if world.happens(self._chances.again):
            again = run_batch(self._database, batch)
            assert [tuple(a)[2:] for a in again] == [tuple(a)[2:] for a in answers], "another answer"
        return answers

    def _start_again(self) -> None:
        self._database.close()
        self._database = open_for_writing(self._path)

    def orphan(self) -> tuple[OpenDatabase, list[Batch]]:
        """The relay dies: give the database of a process that outlives it, and what was sent to that."""
        self._ended = True
        return self._database, list(self._under_way)

    def close(self) -> None:
        """Close the file."""
        self._database.close()


class WriterChances:
    """How likely a writer's troubles are at each batch; ``calm`` ends them."""

    def __init__(self, dies: float, loses: float, again: float, breaks: float) -> None:
        self.dies = dies
        self.loses = loses
        self.again = again
        self.breaks = breaks

    def calm(self) -> None:
        """End the troubles."""
        self.dies = self.loses = self.again = self.breaks = 0.0


def told(batch: Batch, answers: Sequence[Answer]) -> str:
    """A batch in one line: each command with what it is about, and what was wrong with it."""
    return ", ".join(
        f"{command.name} {subject(command.arguments)}" + (f" → {answer.error}" if answer.error else "")
        for command, answer in zip(batch.commands, answers, strict=True)
    )


def subject(arguments: dict[str, Any]) -> str:
    """Whom a command or query is about."""
    for name in ("message", "task", "session", "group", "prefix", "relay"):
        value = arguments.get(name)
        if isinstance(value, dict):
            value = value.get("id")
        if value is not None:
            return str(value)
    return ""


class SimReader:
    """A reader port: each query is run some time after it was asked for, and answered after that."""

    def __init__(self, path: Path, world: Surroundings, owner: str, fails: float) -> None:
        self._path = path
        self._world = world
        self._owner = owner
        self._database = open_for_reading(path)
        self.fails = fails

    def read(self, name: str, arguments: dict[str, Any], done: QueryDone) -> None:
        """Ask for a query; queries overtake each other."""
        self._world.later(lambda: self._run(name, arguments, done), owner=self._owner)

    def _run(self, name: str, arguments: dict[str, Any], done: QueryDone) -> None:
        value: Any = None
        failure: Exception | None = None
        if self._world.happens(self.fails):
            self._world.say("reader", f"{name} {subject(arguments)} fails")
            failure = StoreUnavailable(self._path, "it cannot be read; mend its disk")
        else:
            try:
                value = run_query(self._database, name, arguments)
            except (sqlite3.Error, LookupError, TypeError, ValueError) as error:
                failure = error
        self._world.later(lambda: done(value, failure), owner=self._owner)

    def close(self) -> None:
        """Close the connection."""
        self._database.close()
