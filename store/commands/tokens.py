"""Commands about tokens: of each only the hash comes here."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from peewee import JOIN

from showcaller.store.commands.sessions import NewSession, create_session
from showcaller.store.conflict import Conflict
from showcaller.store.models import Session, Token
from showcaller.store.statement import Slot, Statement, insertion

_NAMED = (Token.kind == Slot("kind"), Token.name == Slot("name"))
_INSERT = insertion(Token, leave_out=frozenset({"used_at", "revoked_at"}))
_CONVERSATION = Statement(
    Token.select(Token.session)
    .join(Session, on=(Session.id == Token.session))
    .where(*_NAMED, Session.archived_at.is_null(), Session.deleted_at.is_null())
    .order_by(Token.created_at.desc())
    .limit(1)
)
_IN_FORCE = Statement(
    Token.select(Token.hash, Token.session)
    .join(Session, JOIN.LEFT_OUTER, on=(Session.id == Token.session))
    .where(
        *_NAMED,
        Token.revoked_at.is_null(),
        Token.session.is_null() | (Session.archived_at.is_null() & Session.id.is_null(False)),
    )
    .limit(1)
)
_OF_THE_NAME = Statement(
    Token.select(Token.revoked_at).where(*_NAMED).order_by(Token.revoked_at.is_null().desc()).limit(1)
)
_KNOWN = Statement(Token.select(Token.name).where(Token.hash == Slot("hash")))
_FORGET_REVOKED = Statement(Token.delete().where(*_NAMED, Token.revoked_at.is_null(False)))
_REVOKE = Statement(
    Token.update(revoked_at=Slot("at"))
    .where(*_NAMED, Token.revoked_at.is_null())
    .returning(Token.kind, Token.name, Token.session)
)
_KINDS_OF = Statement(
    Token.select(Token.kind)
    .where(Token.name == Slot("name"), Token.revoked_at.is_null())
    .distinct()
    .order_by(Token.kind)
)
_NOTE_USE = Statement(Token.update(used_at=Slot("at")).where(Token.hash == Slot("hash")))


def issue_token(
    db: sqlite3.Connection,
    hash: str,  # noqa: A002 - the column's name
    kind: str,
    name: str,
    at: int,
    session: NewSession | None = None,
    replace: bool = False,
    by_client: bool = False,
) -> dict[str, Any]:
    """Keep a new token of a kind under a name; gives ``{"session", "repeated"}``.

    With ``replace`` it takes the place of the one that lets somebody in by this kind and name, which is
    revoked then; without it, Conflict ``name`` is raised while there is one. ``by_client``: no owner has
    asked for it, and Conflict ``revoked`` is raised where the last one of the name was revoked.

    While a token is in force the same once more changes nothing, which ``repeated`` says; afterwards it is
    Conflict ``hash``.

    With ``session`` the token speaks for a conversation: for the one that the name has had before, unless
    that was archived or deleted, else for this one, which is made. Of the tokens that were revoked before,
    only the last of each name is remembered.
    """
    in_force = _IN_FORCE.row(db, kind=kind, name=name)
    if in_force is not None and in_force[0] == hash:
        return {"session": in_force[1], "repeated": True}
    if _KNOWN.row(db, hash=hash) is not None:
        raise Conflict("hash", "this token was made before, and lets nobody in any more")
    if not replace and in_force is not None:
        raise Conflict("name", f"the {kind} token {name!r} is in force")
    last = _OF_THE_NAME.row(db, kind=kind, name=name) if by_client else None
    if last is not None and last[0] is not None:
        raise Conflict("revoked", f"the {kind} token {name!r} was revoked")
    conversation: str | None = None
    if session is not None:
        row = _CONVERSATION.row(db, kind=kind, name=name)
        if row is None:
            create_session(db, session, None)
        conversation = session["id"] if row is None else str(row[0])
    _FORGET_REVOKED.run(db, kind=kind, name=name)
    _REVOKE.rows(db, kind=kind, name=name, at=at)
    _INSERT.run(db, hash=hash, kind=kind, name=name, session=conversation, created_at=at, expires_at=None)
    return {"session": conversation, "repeated": False}


def revoke_token(db: sqlite3.Connection, name: str, at: int, kind: str | None = None) -> dict[str, Any]:
    """Have a token let nobody in any more; gives ``{"kind", "name", "session"}``.

    Raises Conflict ``token``: none of that name is in force, or one of each kind and no kind was given.
    """
    kinds = [found for (found,) in _KINDS_OF.rows(db, name=name) if kind in {None, found}]
    if len(kinds) > 1:
        raise Conflict("kind", f"{' and '.join(kinds)} tokens have the name {name}")
    if not kinds:
        raise Conflict("token", f"no token of the name {name} is in force")
    ((found, named, session),) = _REVOKE.rows(db, kind=kinds[0], name=name, at=at)
    return {"kind": found, "name": named, "session": session}


def note_token_uses(db: sqlite3.Connection, uses: Mapping[str, int]) -> None:
    """Note when tokens, by their hashes, were used last."""
    _NOTE_USE.run_many(db, [{"hash": token, "at": at} for token, at in uses.items()])
