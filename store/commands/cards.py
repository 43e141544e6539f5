"""Commands about cards: the questions that a turn waits on until each has its one end."""

import json
import sqlite3
from typing import Any, Final, NotRequired, TypedDict

from showcaller.store.card_ends import CLOSED, HOW
from showcaller.store.commands.queue import append_event, touch_session
from showcaller.store.commands.repeats import NamedCall, remember_result, repeated_call
from showcaller.store.commands.unasked import count_prompt
from showcaller.store.conflict import Conflict
from showcaller.store.models import Card, Message, literal, running_turn
from showcaller.store.statement import Slot, Statement, insertion

ENDS: Final = frozenset({"answered", "dismissed", "timed_out", "withdrawn"})
ALLOWED: Final = "allow"
"""The option of an approval card that approves; no other answer does."""


class NewCard(TypedDict):
    """A card as its session's side gives it; ``options`` and ``form`` are JSON text.

    ``message`` is the turn that waits for it, ``worker_card`` its worker's name for it.
    """

    id: str
    session: str
    kind: str
    message: str
    question: str
    worker_card: str
    expires_at: int
    options: NotRequired[str | None]
    multi_select: NotRequired[bool]
    allow_freeform: NotRequired[bool]
    form: NotRequired[str | None]
    detail: NotRequired[str | None]


_GIVEN = frozenset(NewCard.__annotations__)
_BLANK: dict[str, Any] = {
    "options": None,
    "multi_select": False,
    "allow_freeform": False,
    "form": None,
    "detail": None,
    "call": None,
    "grants": None,
    "answer": None,
    "via": None,
    "ended_at": None,
}
_PENDING = Card.status == literal("pending")
_INSERT = insertion(Card)
_SAME = Statement(
    Card.select(Card.id).where(Card.session == Slot("session"), Card.worker_card == Slot("worker_card"))
)
_RUNNING = Statement(Message.select(Message.id).where(*running_turn(), Message.session == Slot("session")))
_END = Statement(
    Card.update(status=Slot("status"), answer=Slot("answer"), via=Slot("via"), ended_at=Slot("at"))
    .where(Card.id == Slot("card"), _PENDING)
    .returning(Card.session, Card.message)
)
_HOW = Statement(Card.select(Card.status, Card.via).where(Card.id == Slot("card")))
_WITHDRAW = Statement(
    Card.update(status="withdrawn", ended_at=Slot("at")).where(
        Card.session == Slot("session"), Card.message == Slot("message"), _PENDING
    )
)

_WITHDRAW_WAITING = Statement(
    Card.update(status="withdrawn", ended_at=Slot("at")).where(Card.session == Slot("session"), _PENDING)
)


def open_card(db: sqlite3.Connection, card: NewCard, at: int) -> dict[str, Any]:
    """Show a card in the turn that waits for it; gives ``{"event"}``, the cursor of ``question_asked``.

    Gives ``{"duplicate"}``, the id of the card that the session has under the same ``worker_card``. Raises
    Conflict ``not_running`` when the turn is not the one that runs in the session.
    """
    foreign = card.keys() - _GIVEN
    if foreign:
        raise TypeError(f"a new card does not take: {', '.join(sorted(foreign))}")
    session, message = card["session"], card["message"]
    known = _SAME.row(db, session=session, worker_card=card["worker_card"])
    if known is not None:
        return {"duplicate": known[0]}
    insert_card(db, {**card}, at)
    return {"event": append_event(db, session, "question_asked", at, message, card["question"])}


def insert_card(db: sqlite3.Connection, card: dict[str, Any], at: int) -> None:
    """Have a card wait in its session; raises Conflict ``not_running`` when its turn does not run."""
    session, message = card["session"], card["message"]
    if message is not None:
        running = _RUNNING.row(db, session=session)
        if running is None or running[0] != message:
            raise Conflict("not_running", f"{message} does not run in session {session}")
    _INSERT.run(db, **{**_BLANK, **card, "status": "pending", "created_at": at})
    touch_session(db, session, at)


def end_card(  # noqa: PLR0913 - one argument for each fact about an end
    db: sqlite3.Connection,
    *,
    card: str,
    status: str,
    at: int,
    answer: dict[str, Any] | None = None,
    via: str | None = None,
    call: NamedCall | None = None,
    prompts: str | None = None,
    unasked_limit: int | None = None,
) -> dict[str, Any]:
    """Give a card its one end: ``answered``, ``dismissed``, ``timed_out`` or ``withdrawn``.

    ``answer`` is what its agent gets, ``via`` who has answered; an event tells how it has ended.
    An answer of an agent is a prompt of its session, ``prompts``, to another, and counts as ``count_prompt``
    says. Gives ``{"card", "status"}``, or ``{"duplicate_result"}`` of the same ``call``. Raises Conflict
    ``missing``, ``ended`` (its detail says how), ``client_id`` or ``unasked``.
    """
    if status not in ENDS:
        raise ValueError(f"a card does not end as {status!r}")
    repeated = repeated_call(db, call)
    if repeated is not None:
        return repeated
    kept = None if answer is None else json.dumps(answer)
    row = _END.row(db, card=card, status=status, answer=kept, via=via, at=at)
    if row is None:
        raise refuse_not_pending(db, card)
    if prompts is not None:
        count_prompt(db, prompts, unasked_limit)
    touch_session(db, row[0], at)
    note_closed(db, status, at, *row)
    value = {"card": card, "status": status}
    remember_result(db, call, value, at)
    return value


def note_closed(db: sqlite3.Connection, status: str, at: int, session: str, message: str | None) -> None:
    """Append the event of a card's end, in a turn that goes on: of those that it ends with, its own tells."""
    append_event(db, session, "question_closed", at, message, CLOSED[status])


def withdraw_cards(db: sqlite3.Connection, session: str, message: str, at: int) -> None:
    """Take away what a turn still waited on: it is over, and nobody waits any more."""
    _WITHDRAW.run(db, session=session, message=message, at=at)


def withdraw_waiting(db: sqlite3.Connection, session: str, at: int) -> None:
    """Take away all that waits in a session that is put away."""
    _WITHDRAW_WAITING.run(db, session=session, at=at)


def refuse_not_pending(db: sqlite3.Connection, card: str) -> Conflict:
    """Give the Conflict of a card that does not wait: ``missing``, or ``ended`` with how."""
    row = _HOW.row(db, card=card)
    if row is None:
        return Conflict("missing", f"there is no question {card}")
    status, via = row
    by = f" by {via}" if via and status in {"answered", "dismissed"} else ""
    return Conflict("ended", f"question {card} was {HOW[status]}{by}")
