"""A prompt that arrives in a session: it waits in the queue, or goes to a worker in the same transaction."""

import sqlite3
from typing import Any, TypedDict

from peewee import fn

from showcaller.store.commands.queue import (
    NewMessage,
    append_event,
    insert_message,
    insert_outbox,
    refuse_foreign,
)
from showcaller.store.commands.repeats import remember_prompt
from showcaller.store.models import Message, Session, unfinished
from showcaller.store.statement import Slot, Statement


class HandOver(TypedDict):
    """The worker that a prompt goes to at once if its session has nothing else to do, and when that is."""

    worker: str
    at: int


_HAS_UNFINISHED = Statement(
    Message.select(Message.id).where(Message.session == Slot("session"), unfinished(Message.status)).limit(1)
)
_KEEP_NAMED = Statement(
    Session.update(
        model=fn.COALESCE(Slot("model"), Session.model),
        effort=fn.COALESCE(Slot("effort"), Session.effort),
        mode=fn.COALESCE(Slot("mode"), Session.mode),
    ).where(Session.id == Slot("session"))
)


def has_unfinished(db: sqlite3.Connection, session: str) -> bool:
    """Tell whether a message of the session waits, or is with a worker."""
    return _HAS_UNFINISHED.row(db, session=session) is not None


def arrive(
    db: sqlite3.Connection, message: NewMessage, session: str, hand_over: HandOver | None
) -> dict[str, Any]:
    """Insert a user message and its client id: queued with its outbox row, or with ``hand_over`` handed.

    Gives ``{"position"}``, and the cursor of ``turn_started`` as ``event`` of one that is handed over.
    """
    refuse_foreign(message)
    at = message["created_at"]
    row: dict[str, Any] = {**message, "session": session, "role": "user"}
    if hand_over is None:
        arrived = {"position": insert_message(db, row)}
        insert_outbox(db, message["id"], session, at)
    else:
        begun_at = hand_over["at"]
        row |= {"status": "handed", "worker": hand_over["worker"], "handed_at": begun_at}
        position = insert_message(db, row)
        named = (message.get("model"), message.get("effort"), message.get("mode"))
        arrived = {"position": position, "event": note_start(db, session, message["id"], named, begun_at)}
    remember_prompt(
        db,
        message.get("caller"),
        message.get("client_id"),
        message.get("fingerprint"),
        message["id"],
        session,
        at,
    )
    return arrived


def note_start(
    db: sqlite3.Connection, session: str, message: str, named: tuple[str | None, ...], at: int
) -> int:
    """Note what follows from a prompt's going to a worker; gives the cursor of ``turn_started``.

    The model, effort and mode that it has ``named`` are the session's from now on: what waits behind it goes
    by them.
    """
    if any(named):
        model, effort, mode = named
        _KEEP_NAMED.run(db, session=session, model=model, effort=effort, mode=mode)
    return append_event(db, session, "turn_started", at, message)
