"""Commands about messages that join a running turn."""

import sqlite3
from typing import Any

from showcaller.store.commands.queue import delete_outbox, insert_outbox
from showcaller.store.conflict import Conflict
from showcaller.store.models import ENDED, Message, literal, running_turn
from showcaller.store.statement import Slot, Statement

_THIS = Message.id == Slot("message")
_HANDED = Message.status == literal("handed")
_STEERED = (_THIS, _HANDED, Message.steered_into.is_null(False))
_TURN = Statement(Message.select(Message.session).where(Message.id == Slot("turn"), *running_turn()))
_STEER = Statement(
    Message.update(
        status="handed", worker=Slot("worker"), handed_at=Slot("at"), steered_into=Slot("turn")
    ).where(_THIS, Message.status == literal("queued"), Message.session == Slot("session"))
)
_TAKEN = Statement(Message.update(steer_taken=True).where(*_STEERED))
_UNSTEER = Statement(
    Message.update(status="queued", worker=None, handed_at=None, steered_into=None)
    .where(*_STEERED, Message.steer_taken == 0)
    .returning(Message.session, Message.created_at)
)
_STATE = Statement(Message.select(Message.status, Message.session, Message.steer_taken).where(_THIS))


def steer_message(db: sqlite3.Connection, message: str, turn: str, worker: str, at: int) -> None:
    """Note that a queued message goes to the agent within a running turn of its session.

    Raises Conflict ``missing``, ``not_queued``, or ``not_running`` (no such turn, or in another session).
    """
    row = _TURN.row(db, turn=turn)
    if row is None:
        raise Conflict("not_running", f"no turn {turn} is running")
    if not _STEER.run(db, message=message, turn=turn, worker=worker, at=at, session=row[0]).rowcount:
        status, session, _taken = _state(db, message)
        if session != row[0]:
            raise Conflict("not_running", f"turn {turn} is of another session than message {message}")
        raise Conflict("not_queued", f"message {message} is {status}")
    delete_outbox(db, message)


def steer_taken(db: sqlite3.Connection, message: str) -> None:
    """Note that the agent acknowledged a message that joined its turn.

    Raises Conflict ``missing``, ``ended``, or ``not_steered`` (it waits, or is a turn of its own).
    """
    if not _TAKEN.run(db, message=message).rowcount:
        raise _not_steered(db, message)


def unsteer_message(db: sqlite3.Connection, message: str) -> None:
    """Queue a message again, in its old place, that the agent refused to take into its turn.

    Raises Conflict ``missing``, ``ended``, ``not_steered``, or ``taken`` (the agent acknowledged it).
    """
    row = _UNSTEER.row(db, message=message)
    if row is None:
        raise _not_steered(db, message)
    session, created_at = row
    insert_outbox(db, message, session, created_at)


def _not_steered(db: sqlite3.Connection, message: str) -> Conflict:
    status, _session, taken = _state(db, message)
    what = "ended" if status in ENDED else "taken" if taken else "not_steered"
    return Conflict(what, f"message {message} is {status}" + (" and was taken" if taken else ""))


def _state(db: sqlite3.Connection, message: str) -> tuple[Any, ...]:
    row = _STATE.row(db, message=message)
    if row is None:
        raise Conflict("missing", f"there is no message {message}")
    return row
