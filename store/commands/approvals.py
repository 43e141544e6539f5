"""Commands about approvals: cards that ask the owner about calls, and what an *Allow* goes on covering."""

import sqlite3
from typing import Any, NotRequired, TypedDict

from showcaller.store.commands.cards import (
    ALLOWED,
    end_card,
    insert_card,
    note_closed,
    refuse_not_pending,
)
from showcaller.store.commands.holds import refuse_archived
from showcaller.store.commands.queue import append_event
from showcaller.store.commands.repeats import NamedCall
from showcaller.store.commands.unasked import restart_count
from showcaller.store.conflict import Conflict
from showcaller.store.models import Approval, Card, literal
from showcaller.store.soundness import read_json
from showcaller.store.statement import Slot, Statement

HERE = ""
"""The relay of an approval that is for this one."""


class NewApprovalCard(TypedDict):
    """A card that asks the owner about calls of an agent, as its session's side gives it.

    ``message`` is the turn that waits for it, None in a conversation that no relay runs. ``options``,
    ``call`` (the calls that it is bound to) and ``grants`` (what *Allow* goes on covering: ``stands``, kinds
    of approvals, and ``restarts_count``) are JSON text.
    """

    id: str
    session: str
    message: str | None
    question: str
    expires_at: int
    options: str
    call: str
    grants: str
    detail: NotRequired[str | None]


_GIVEN = frozenset(NewApprovalCard.__annotations__)
_PENDING = (Card.kind == literal("approval"), Card.status == literal("pending"))
_CHANGE = Statement(
    Card.update(call=Slot("call"), detail=Slot("detail")).where(Card.id == Slot("card"), *_PENDING)
)
_GRANTS = Statement(Card.select(Card.session, Card.grants).where(Card.id == Slot("card")))
_STAND = Statement(
    Approval.insert(
        conversation=Slot("conversation"),
        kind=Slot("kind"),
        relay=HERE,
        card=Slot("card"),
        created_at=Slot("at"),
    ).on_conflict_ignore()
)
_OF = (Approval.conversation == Slot("conversation"), Approval.relay == HERE)
_REVOKE = Statement(Approval.delete().where(*_OF).returning(Approval.kind))
_REVOKE_KIND = Statement(
    Approval.delete().where(*_OF, Approval.kind == Slot("kind")).returning(Approval.kind)
)
_FORGET = Statement(Approval.delete().where(Approval.relay == HERE))
_WITHDRAW_ALL = Statement(
    Card.update(status="withdrawn", ended_at=Slot("at"))
    .where(*_PENDING)
    .returning(Card.session, Card.message)
)


def open_approval(db: sqlite3.Connection, card: NewApprovalCard, at: int) -> dict[str, Any]:
    """Show the owner a card in the turn whose agent calls; gives ``{"event"}``, that of ``question_asked``.

    The event says nothing of what is asked: others than the owner hear of it too. Raises Conflict
    ``not_running`` when the turn is not the one that runs, ``missing`` or ``archived`` (the session).
    """
    foreign = card.keys() - _GIVEN
    if foreign:
        raise TypeError(f"a new approval card does not take: {', '.join(sorted(foreign))}")
    if card["message"] is None:
        refuse_archived(db, card["session"])
    insert_card(db, {**card, "kind": "approval", "worker_card": None}, at)
    return {"event": append_event(db, card["session"], "question_asked", at, card["message"])}


def change_approval(db: sqlite3.Connection, card: str, call: str, detail: str | None) -> None:
    """Say anew which calls a card that waits is bound to, and what it tells of them.

    Raises Conflict ``missing`` or ``ended``.
    """
    if not _CHANGE.run(db, card=card, call=call, detail=detail).rowcount:
        raise refuse_not_pending(db, card)


def end_approval(
    db: sqlite3.Connection,
    *,
    card: str,
    status: str,
    at: int,
    answer: dict[str, Any] | None = None,
    via: str | None = None,
    call: NamedCall | None = None,
) -> dict[str, Any]:
    """Give a card its one end, as ``end_card`` does; an *Allow* has what it grants stand from now on."""
    ended = end_card(db, card=card, status=status, at=at, answer=answer, via=via, call=call)
    if "duplicate_result" in ended or answer is None or answer.get("choices") != [ALLOWED]:
        return ended
    row = _GRANTS.row(db, card=card)
    assert row is not None, "a card that has just ended is there"
    conversation, kept = row
    grants = {} if kept is None else read_json(kept, f"card {card}: grants")
    for kind in grants.get("stands", ()):
        _STAND.run(db, conversation=conversation, kind=kind, card=card, at=at)
    if grants.get("restarts_count"):
        restart_count(db, conversation)
    return ended


def revoke_approvals(db: sqlite3.Connection, conversation: str, kind: str | None = None) -> dict[str, Any]:
    """Have what was allowed in a conversation stand no more, of one kind or of all; gives ``{"revoked"}``.

    Raises Conflict ``missing`` when nothing of it stands.
    """
    statement = _REVOKE if kind is None else _REVOKE_KIND
    revoked = sorted(row[0] for row in statement.rows(db, conversation=conversation, kind=kind))
    if not revoked:
        raise Conflict("missing", f"no approval stands in {conversation}")
    return {"revoked": revoked}


def forget_consent(db: sqlite3.Connection, at: int) -> None:
    """Take away all that the owner is asked about calls, and all that was allowed: agents may do nothing."""
    for session, message in _WITHDRAW_ALL.rows(db, at=at):
        note_closed(db, "withdrawn", at, session, message)
    _FORGET.run(db)
