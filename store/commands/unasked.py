"""How many prompts a conversation's agent has sent to others with no word from the owner in between."""

import sqlite3

from showcaller.store.conflict import Conflict
from showcaller.store.models import Session
from showcaller.store.statement import Slot, Statement

_THIS = Session.id == Slot("session")
_COUNT = Statement(Session.update(prompts_unasked=Session.prompts_unasked + 1).where(_THIS))
_COUNT_WITHIN = Statement(
    Session.update(prompts_unasked=Session.prompts_unasked + 1).where(
        _THIS, Session.prompts_unasked < Slot("limit")
    )
)
_RESTART = Statement(Session.update(prompts_unasked=0).where(_THIS, Session.deleted_at.is_null()))


def count_prompt(db: sqlite3.Connection, session: str, limit: int | None) -> None:
    """Count a prompt that the agent of ``session`` sends to another.

    Raises Conflict ``unasked`` when it has sent ``limit`` already and the owner has to be asked; with None it
    was asked, or nobody has to be.
    """
    if limit is None:
        _COUNT.run(db, session=session)
    elif not _COUNT_WITHIN.run(db, session=session, limit=limit).rowcount:
        raise Conflict("unasked", f"{limit} prompts were sent with no word from the owner in between")


def restart_count(db: sqlite3.Connection, session: str) -> None:
    """Begin to count again from 0, as after a word of the owner; raises Conflict ``missing``."""
    if not _RESTART.run(db, session=session).rowcount:
        raise Conflict("missing", f"there is no session {session}")
