"""Commands that hold a session's queue after a stop, and let it go on."""

import sqlite3
from typing import Any

from showcaller.store.commands.repeats import NamedCall, remember_result, repeated_call
from showcaller.store.conflict import Conflict
from showcaller.store.models import Session
from showcaller.store.statement import Slot, Statement

_OPEN = (Session.id == Slot("session"), Session.archived_at.is_null())
_HOLD = Statement(Session.update(held_at=Slot("at")).where(*_OPEN, Session.held_at.is_null()))
_RELEASE = Statement(
    Session.update(held_at=None).where(Session.id == Slot("session"), Session.held_at.is_null(False))
)
_STATE = Statement(
    Session.select(Session.archived_at, Session.deleted_at, Session.held_at).where(
        Session.id == Slot("session")
    )
)


def hold_queue(
    db: sqlite3.Connection, session: str, at: int, call: NamedCall | None = None
) -> dict[str, Any]:
    """Keep what waits in a session from being started until its queue is released.

    Gives ``{"held_at"}``, the time of the first hold that still stands, or ``{"duplicate_result"}`` of the
    same ``call``. Raises Conflict ``missing``, ``archived`` or ``client_id``.
    """
    repeated = repeated_call(db, call)
    if repeated is not None:
        return repeated
    held_at = at
    if not _HOLD.run(db, session=session, at=at).rowcount:
        held_at = refuse_archived(db, session) or at
    value = {"held_at": held_at}
    remember_result(db, call, value, at)
    return value


def release_queue(db: sqlite3.Connection, session: str) -> dict[str, Any]:
    """Let a held queue go on; gives ``{"released"}``, False when it was not held.

    Raises Conflict ``missing`` or ``archived``.
    """
    released = bool(_RELEASE.run(db, session=session).rowcount)
    if not released:
        refuse_archived(db, session)
    return {"released": released}


def refuse_archived(db: sqlite3.Connection, session: str) -> int | None:
    """Raise Conflict ``missing`` or ``archived`` unless prompts are taken; gives ``held_at``."""
    row = _STATE.row(db, session=session)
    if row is None:
        raise Conflict("missing", f"there is no session {session}")
    archived_at, deleted_at, held_at = row
    if deleted_at is not None:
        raise Conflict("missing", f"session {session} was deleted")
    if archived_at is not None:
        raise Conflict("archived", f"session {session} is archived")
    found: int | None = held_at
    return found
