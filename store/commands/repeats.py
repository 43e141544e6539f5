"""What callers name their writes, so that a write that is asked for again has no second effect."""

import json
import sqlite3
from typing import Any, NotRequired, TypedDict

from showcaller.store.conflict import Conflict
from showcaller.store.models import ClientId
from showcaller.store.soundness import read_json
from showcaller.store.statement import Slot, Statement, insertion


class NamedCall(TypedDict):
    """What a caller named a write: ``caller`` is its session, or absent for the owner.

    Calls with equal ``fingerprint`` ask for the same effect. ``result`` is what a repeat gets; left out,
    it gets what the command gave.
    """

    client_id: str
    fingerprint: str | None
    caller: NotRequired[str | None]
    result: NotRequired[Any]


_INSERT_PROMPT = insertion(ClientId, leave_out=frozenset({"result"}))
_INSERT_RESULT = insertion(ClientId, leave_out=frozenset({"message", "session"}))
_FIND = Statement(
    ClientId.select(ClientId.fingerprint, ClientId.message, ClientId.session, ClientId.result).where(
        ClientId.caller == Slot("caller"), ClientId.client_id == Slot("client_id")
    )
)


def repeated_prompt(
    db: sqlite3.Connection,
    caller: str | None,
    client_id: str | None,
    fingerprint: str | None,
    session: str | None,
) -> dict[str, Any] | None:
    """Give ``{"duplicate", "session"}`` of what the caller sent under this id before; None for a new one.

    Raises Conflict ``client_id`` when that was something else: its fingerprint is another, or (with
    ``session``) it was for another session.
    """
    if client_id is None:
        return None
    row = _FIND.row(db, caller=caller or "", client_id=client_id)
    if row is None:
        return None
    known, message, first_session, _result = row
    if message is None or known != fingerprint or session not in {None, first_session}:
        raise _used(client_id, message)
    return {"duplicate": message, "session": first_session}


def remember_prompt(
    db: sqlite3.Connection,
    caller: str | None,
    client_id: str | None,
    fingerprint: str | None,
    message: str,
    session: str,
    at: int,
) -> None:
    """Note under which id, if any, a prompt was sent."""
    if client_id is None:
        return
    _INSERT_PROMPT.run(
        db,
        caller=caller or "",
        client_id=client_id,
        fingerprint=fingerprint,
        message=message,
        session=session,
        created_at=at,
    )


def repeated_call(db: sqlite3.Connection, call: NamedCall | None) -> dict[str, Any] | None:
    """Give ``{"duplicate_result"}`` of a write that was carried out before; None for a new one.

    Raises Conflict ``client_id`` when the id was used for something else.
    """
    if call is None:
        return None
    row = _FIND.row(db, caller=call.get("caller") or "", client_id=call["client_id"])
    if row is None:
        return None
    fingerprint, message, _session, result = row
    if message is not None or fingerprint != call["fingerprint"]:
        raise _used(call["client_id"], message)
    return {"duplicate_result": read_json(result, "client_id: result")}


def remember_result(db: sqlite3.Connection, call: NamedCall | None, value: Any, at: int) -> None:
    """Note, if the call has an id, what a repeat of it gets: the call's own ``result``, else ``value``."""
    if call is None:
        return
    _INSERT_RESULT.run(
        db,
        caller=call.get("caller") or "",
        client_id=call["client_id"],
        fingerprint=call["fingerprint"],
        result=json.dumps(call.get("result", value)),
        created_at=at,
    )


def remember_call(db: sqlite3.Connection, call: NamedCall, at: int) -> dict[str, Any]:
    """Note the ``result`` of a write that changes nothing in the store, or give that of its first time.

    Gives ``{}``, or ``{"duplicate_result"}``; raises Conflict ``client_id``.
    """
    repeated = repeated_call(db, call)
    if repeated is not None:
        return repeated
    remember_result(db, call, None, at)
    return {}


def _used(client_id: str, message: str | None) -> Conflict:
    of_what = "" if message is None else f", of message {message}"
    return Conflict("client_id", f"the id {client_id!r} was used for another call{of_what}")
