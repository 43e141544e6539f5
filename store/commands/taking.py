"""The command by which an external conversation, whose turns no worker runs, takes what waits for it."""

import sqlite3
from collections.abc import Sequence

from showcaller.store.commands.idling import tell_all_idle
from showcaller.store.commands.queue import append_event, delete_outbox, touch_session
from showcaller.store.models import Message, literal
from showcaller.store.statement import Slot, Statement

_TAKE = Statement(
    Message.update(status="done", stop_reason="end", handed_at=Slot("at"), ended_at=Slot("at"))
    .where(
        Message.id == Slot("message"), Message.session == Slot("session"), Message.status == literal("queued")
    )
    .returning(Message.id)
)


def take_messages(
    db: sqlite3.Connection, session: str, messages: Sequence[str], at: int
) -> dict[str, list[str]]:
    """End as ``done`` the queued prompts of a conversation whose client has them; no worker ever had them.

    Each gets its ``turn_started`` and its ``turn_end``. Gives ``{"taken": ids}``: those that do not wait any
    more, because they were taken before or cancelled, are passed over, so to repeat it is harmless.
    """
    taken = [message for message in messages if _TAKE.row(db, message=message, session=session, at=at)]
    for message in taken:
        delete_outbox(db, message)
        append_event(db, session, "turn_started", at, message)
        append_event(db, session, "turn_end", at, message)
    if taken:
        touch_session(db, session, at)
        tell_all_idle(db, session, at)
    return {"taken": taken}
