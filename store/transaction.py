"""Running a batch of commands as one transaction, exactly once."""

import logging
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from showcaller.store.batch import Answer, Batch, Command
from showcaller.store.commands import COMMANDS
from showcaller.store.conflict import Conflict
from showcaller.store.database import OpenDatabase
from showcaller.store.errors import StoreError, StoreTaken, is_row_damage, storage_error
from showcaller.store.frames import pack_answers, unpack_answers
from showcaller.store.models import WriterBatch
from showcaller.store.statement import Slot, Statement

_LOG: Final = logging.getLogger(__name__)
_LAST: Final = Statement(
    WriterBatch.select(WriterBatch.epoch, WriterBatch.incarnation, WriterBatch.number, WriterBatch.answers)
)
_REMEMBER: Final = Statement(
    WriterBatch.update(incarnation=Slot("incarnation"), number=Slot("number"), answers=Slot("answers")).where(
        WriterBatch.id == 1
    )
)


class _CommandFailed(Exception):
    """One command of a batch did not go through, so that the batch has to run with a savepoint for each."""


def run_batch(database: OpenDatabase, batch: Batch) -> list[Answer]:
    """Run the commands in order in one transaction and give one answer for each.

    A command that conflicts or is faulty changes nothing and hurts none of the others. When the storage
    itself fails, nothing of the batch is stored and every answer says ``storage``. The batch that was
    committed last can be given again: it runs nothing and gets the answers it got. Raises nothing; call it
    from one thread at a time.
    """
    try:
        return _in_transaction(database, batch)
    except sqlite3.Error as error:
        trouble = storage_error(error, database.path)
        if trouble is None:
            _LOG.exception("a batch failed outside its commands")
            return _all(batch, "fault", f"{type(error).__name__}: {error}")
        return refused(batch, trouble)
    except StoreError as error:
        return refused(batch, error)
    finally:
        _roll_back(database.connection)


def committed_answers(database: OpenDatabase, batch: Batch) -> list[Answer] | None:
    """Look up whether a batch was committed, when its writer died before it could say so.

    For a reader's connection, once that writer's process is known to have ended. Gives the answers, or
    None when nothing of the batch is stored.
    """
    row = _LAST.row(database.connection)
    if row is None or (row[1], row[2]) != (batch.incarnation, batch.number):
        return None
    return unpack_answers(row[3])


def refused(batch: Batch, trouble: StoreError) -> list[Answer]:
    """Answer every command of a batch of which nothing was stored, because of ``trouble``."""
    return _all(batch, "storage", str(trouble))


def _all(batch: Batch, error: str, detail: str) -> list[Answer]:
    return [Answer(command.number, None, error, detail) for command in batch.commands]


def _in_transaction(database: OpenDatabase, batch: Batch) -> list[Answer]:
    db = database.connection
    db.execute("BEGIN IMMEDIATE")
    stored = _stored_answers(database, batch)
    if stored is not None:
        return stored
    answers = _run_all(database, batch.commands)
    packed = pack_answers(answers)
    _REMEMBER.run(db, incarnation=batch.incarnation, number=batch.number, answers=packed)
    db.execute("COMMIT")
    return answers


def _stored_answers(database: OpenDatabase, batch: Batch) -> list[Answer] | None:
    """Give the answers of a batch that was committed already; None for one that is new."""
    row = _LAST.row(database.connection)
    if row is None or row[0] != database.epoch:
        raise StoreTaken(
            database.path,
            "another relay has opened it since; only one may use it, so end this one or that one",
        )
    _epoch, incarnation, number, answers = row
    if incarnation != batch.incarnation or batch.number > number:
        return None
    if batch.number < number:
        return _all(batch, "fault", f"batch {batch.number} came after batch {number} was committed")
    return unpack_answers(answers)


def _run_all(database: OpenDatabase, commands: Sequence[Command]) -> list[Answer]:
    """Run the commands under one savepoint, and again with one each when one of them does not go through."""
    db = database.connection
    db.execute("SAVEPOINT batch")
    answers: list[Answer] = []
    with suppress(_CommandFailed):
        answers.extend(Answer(command.number, _run(db, command)) for command in commands)
    if len(answers) < len(commands):
        db.execute("ROLLBACK TO batch")
        answers = [_run_apart(database, command) for command in commands]
    db.execute("RELEASE batch")
    return answers


def _run_apart(database: OpenDatabase, command: Command) -> Answer:
    db = database.connection
    db.execute("SAVEPOINT command")
    try:
        answer = Answer(command.number, _run(db, command))
    except _CommandFailed as failed:
        db.execute("ROLLBACK TO command")
        answer = _failure(command, failed.__cause__, database.path)
    db.execute("RELEASE command")
    return answer


def _run(db: sqlite3.Connection, command: Command) -> Any:
    """Run one command; raises what the storage says as it is, and _CommandFailed for all that is its own."""
    try:
        function = COMMANDS.get(command.name)
        if function is None:
            raise LookupError(f"there is no command {command.name!r}")
        return function(db, **command.arguments)
    except Exception as error:
        if storage_error(error, "") is not None and not is_row_damage(error):
            raise
        raise _CommandFailed from error


def _failure(command: Command, error: BaseException | None, path: Path) -> Answer:
    if isinstance(error, Conflict):
        return Answer(command.number, error.what, "conflict", error.detail)
    damage = None if error is None else storage_error(error, path)
    if damage is not None:
        return Answer(command.number, None, "storage", str(damage))
    _LOG.error("command %d, %s, is faulty", command.number, command.name, exc_info=error)
    return Answer(command.number, None, "fault", f"{command.name}: {type(error).__name__}: {error}")


def _roll_back(db: sqlite3.Connection) -> None:
    """Leave no transaction open; after some errors SQLite has ended it by itself."""
    if db.in_transaction:
        db.execute("ROLLBACK")
