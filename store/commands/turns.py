"""Commands about a prompt's turn: handing it over, taking it back, and its one end."""

import sqlite3
from collections.abc import Sequence
from typing import Any, TypedDict

from peewee import SQL, fn

from showcaller.store.commands.arrivals import note_start
from showcaller.store.commands.cards import withdraw_cards
from showcaller.store.commands.holds import refuse_archived
from showcaller.store.commands.idling import tell_all_idle
from showcaller.store.commands.queue import (
    NewMessage,
    append_event,
    delete_outbox,
    insert_message,
    insert_outbox,
    refuse_foreign,
    touch_session,
)
from showcaller.store.commands.steering import steer_taken, unsteer_message
from showcaller.store.commands.tasks import interrupt_tasks
from showcaller.store.conflict import Conflict
from showcaller.store.interruptions import INTERRUPTED, UNACKNOWLEDGED
from showcaller.store.models import ENDED, Activity, Message, literal, running_turn
from showcaller.store.statement import Slot, Statement, insertion

_INSERT_ACTIVITY = insertion(Activity)


class Reply(TypedDict):
    """The agent's message that ends a turn; ``truncated`` says that its middle was cut out."""

    id: str
    text: str
    truncated: bool


class Untold(TypedDict):
    """What the agent said of a message that was to join its turn: it has taken it, or has not seen it."""

    message: str
    is_taken: bool


_STATUS = Statement(Message.select(Message.status).where(Message.id == Slot("message")))
_HAND_OVER = Statement(
    Message.update(status=literal("handed"), worker=Slot("worker"), handed_at=Slot("at"))
    .where(Message.id == Slot("message"), Message.status == literal("queued"))
    .returning(Message.session, Message.model, Message.effort, Message.mode)
)
_TAKE_BACK = Statement(
    Message.update(status="queued", worker=None, handed_at=None)
    .where(Message.id == Slot("message"), Message.status == literal("handed"), Message.steered_into.is_null())
    .returning(Message.session, Message.created_at)
)
_CANCEL = Statement(
    Message.update(status="cancelled", ended_at=Slot("at"))
    .where(Message.id == Slot("message"), Message.status == literal("queued"))
    .returning(Message.session)
)
_FAIL_QUEUED = Statement(
    Message.update(
        status="failed",
        stop_reason="died",
        error_class="other",
        error_text=Slot("error_text"),
        ended_at=Slot("at"),
    )
    .where(Message.id == Slot("message"), Message.status == literal("queued"))
    .returning(Message.session)
)
_ENDING = Message.update(
    status=Slot("status"),
    stop_reason=Slot("stop_reason"),
    error_class=Slot("error_class"),
    error_text=Slot("error_text"),
    exit_code=Slot("exit_code"),
    seconds=Slot("seconds"),
    ended_at=Slot("at"),
).where(Message.id == Slot("message"), Message.status == literal("handed"))
_OTHER = Message.alias("other")
_HAS_JOINED = fn.EXISTS(
    _OTHER.select(SQL("1")).where(_OTHER.steered_into == Message.id, _OTHER.status == literal("handed"))
)
_END = Statement(_ENDING.where(Message.steered_into.is_null()).returning(Message.session, _HAS_JOINED))
_END_JOINED = Statement(_ENDING)
_JOINED = Statement(
    Message.select(Message.id, Message.steer_taken)
    .where(Message.steered_into == Slot("turn"), Message.status == literal("handed"))
    .order_by(Message.position)
)
_RUNNING = Statement(Message.select(Message.id).where(*running_turn(), Message.session == Slot("session")))
_ALL_RUNNING = Statement(
    Message.select(Message.id, Message.session).where(*running_turn()).order_by(Message.position)
)


def hand_over(db: sqlite3.Connection, message: str, worker: str, at: int) -> dict[str, Any]:
    """Note that a queued prompt goes to a worker; gives ``{"event"}``, the cursor of ``turn_started``.

    Raises Conflict ``missing`` or ``not_queued``.
    """
    row = _HAND_OVER.row(db, message=message, worker=worker, at=at)
    if row is None:
        raise _not_in_state(db, message, "not_queued")
    delete_outbox(db, message)
    session, *named = row
    return {"event": note_start(db, session, message, tuple(named), at)}


def take_back(db: sqlite3.Connection, message: str) -> None:
    """Queue a prompt again whose hand-over is proven never to have reached a worker.

    Raises Conflict ``missing`` or ``not_handed``.
    """
    row = _TAKE_BACK.row(db, message=message)
    if row is None:
        raise _not_in_state(db, message, "not_handed")
    session, created_at = row
    insert_outbox(db, message, session, created_at)


def cancel_message(db: sqlite3.Connection, message: str, at: int) -> None:
    """Take a prompt out of the queue for good; raises Conflict ``missing`` or ``not_queued``."""
    row = _CANCEL.row(db, message=message, at=at)
    if row is None:
        raise _not_in_state(db, message, "not_queued")
    delete_outbox(db, message)
    touch_session(db, row[0], at)
    tell_all_idle(db, row[0], at)


def end_queued(db: sqlite3.Connection, message: str, error_text: str, at: int) -> dict[str, Any]:
    """End as failed a queued prompt that can never run; gives ``{"event"}``, the cursor of ``error``.

    Raises Conflict ``missing`` or ``not_queued``.
    """
    row = _FAIL_QUEUED.row(db, message=message, error_text=error_text, at=at)
    if row is None:
        raise _not_in_state(db, message, "not_queued")
    delete_outbox(db, message)
    touch_session(db, row[0], at)
    event = append_event(db, row[0], "error", at, message, error_text)
    tell_all_idle(db, row[0], at)
    return {"event": event}


def begin_continuation(db: sqlite3.Connection, message: NewMessage, worker: str, at: int) -> dict[str, Any]:
    """Begin a turn that nobody prompted: its message is handed to the worker at once, before what waits.

    Gives ``{"position", "event"}``. Raises Conflict ``missing`` or ``archived`` (the session), or ``busy``
    when a turn of it runs.
    """
    refuse_foreign(message)
    session = message.get("session")
    if session is None:
        raise TypeError("a continuation names its session in 'session'")
    refuse_archived(db, session)
    running = _RUNNING.row(db, session=session)
    if running is not None:
        raise Conflict("busy", f"session {session} is working on {running[0]}")
    begun = {"kind": "continuation", "origin": "task", "role": "user", "status": "handed"}
    position = insert_message(db, {**message, **begun, "worker": worker, "handed_at": at})
    touch_session(db, session, at, added=1)
    return {"position": position, "event": append_event(db, session, "turn_started", at, message["id"])}


def end_turn(  # noqa: PLR0913 - one argument for each fact about an end
    db: sqlite3.Connection,
    *,
    message: str,
    status: str,
    stop_reason: str | None,
    error_class: str | None,
    error_text: str | None,
    reply: Reply | None,
    exit_code: int | None,
    seconds: float | None,
    at: int,
    untold: Untold | None = None,
    activity: Sequence[str] = (),
) -> dict[str, Any]:
    """Record the one end of a turn: ``status`` is ``done``, ``failed`` or ``stopped``; ``seconds`` its time.

    What the agent did beside its text is kept, if ``activity`` says it. A card that it still waits on is
    withdrawn. The messages that joined it end with it: as it does, if the agent acknowledged them, else as
    failed, ``interrupted``; of one of them ``untold`` says what the agent said, before that. Gives
    ``{"event", "position", "joined"}``: the cursor of ``turn_end`` (or of ``error`` for a failed one), the
    reply's place (None without one), and their ids. Raises Conflict ``missing``, ``not_handed`` (still
    queued, or part of another turn), or ``ended`` when the turn has its end already.
    """
    if status not in {"done", "failed", "stopped"}:
        raise ValueError(f"a turn does not end as {status!r}")
    end = {
        "status": status,
        "stop_reason": stop_reason,
        "error_class": error_class,
        "error_text": error_text,
        "exit_code": exit_code,
        "seconds": seconds,
        "at": at,
    }
    if untold is not None:
        settle = steer_taken if untold["is_taken"] else unsteer_message
        settle(db, untold["message"])
    row = _END.row(db, message=message, **end)
    if row is None:
        raise _not_in_state(db, message, "not_handed")
    session: str
    session, has_joined = row
    withdraw_cards(db, session, message, at)
    position = None if reply is None else _insert_reply(db, session, message, reply, at)
    if activity:
        shown_with = message if reply is None else reply["id"]
        _INSERT_ACTIVITY.run(db, message=shown_with, session=session, lines="\n".join(activity))
    touch_session(db, session, at, added=0 if reply is None else 1)
    kind, text = _end_event(status, error_text, reply)
    event = append_event(db, session, kind, at, message, text)
    joined = _end_joined(db, message, end) if has_joined else []
    tell_all_idle(db, session, at)
    return {"event": event, "position": position, "joined": joined}


def interrupt_turns(
    db: sqlite3.Connection, at: int, spare: Sequence[str] = (), spare_tasks: Sequence[str] = ()
) -> list[dict[str, str]]:
    """End every running turn as failed, ``interrupted``, and every running task.

    Gives ``{"message", "session"}`` of each turn, in order. For the start of a relay, when nothing can be
    running but what is with workers that have outlived the relay before: the turns of the messages to
    ``spare``, the tasks of their sessions, and the tasks to spare.
    """
    spared = frozenset(spare)
    running = _ALL_RUNNING.rows(db)
    turns = [row for row in running if row[0] not in spared]
    for message, _session in turns:
        end_turn(
            db,
            message=message,
            status="failed",
            stop_reason="interrupted",
            error_class=None,
            error_text=INTERRUPTED,
            reply=None,
            exit_code=None,
            seconds=None,
            at=at,
        )
    going_on = frozenset(session for message, session in running if message in spared)
    interrupt_tasks(db, at, frozenset(spare_tasks), going_on)
    return [{"message": message, "session": session} for message, session in turns]


def _end_joined(db: sqlite3.Connection, turn: str, end: dict[str, Any]) -> list[str]:
    joined = _JOINED.rows(db, turn=turn)
    for message, taken in joined:
        _END_JOINED.run(db, message=message, **(end if taken else _unacknowledged(end["at"])))
    return [message for message, _taken in joined]


def _unacknowledged(at: int) -> dict[str, Any]:
    return {
        "status": "failed",
        "stop_reason": "interrupted",
        "error_class": None,
        "error_text": UNACKNOWLEDGED,
        "exit_code": None,
        "seconds": None,
        "at": at,
    }


def _insert_reply(db: sqlite3.Connection, session: str, message: str, reply: Reply, at: int) -> int:
    return insert_message(
        db,
        {
            "id": reply["id"],
            "session": session,
            "role": "agent",
            "origin": "agent",
            "text": reply["text"],
            "truncated": reply["truncated"],
            "status": "done",
            "reply_to": message,
            "created_at": at,
            "ended_at": at,
        },
    )


def _end_event(status: str, error_text: str | None, reply: Reply | None) -> tuple[str, str]:
    text = "" if reply is None else reply["text"]
    return ("error", error_text or text) if status == "failed" else ("turn_end", text)


def _not_in_state(db: sqlite3.Connection, message: str, expected: str) -> Conflict:
    """Say why a guarded update found nothing to change."""
    row = _STATUS.row(db, message=message)
    if row is None:
        return Conflict("missing", f"there is no message {message}")
    what = "ended" if expected == "not_handed" and row[0] in ENDED else expected
    return Conflict(what, f"message {message} is {row[0]}")
