"""Queries about what callers named their writes."""

import sqlite3
from typing import Any

from showcaller.store.models import ClientId
from showcaller.store.soundness import read_json
from showcaller.store.statement import Slot, Statement

_BY_KEY = Statement(
    ClientId.select(
        ClientId.fingerprint, ClientId.message, ClientId.session, ClientId.result, ClientId.created_at
    ).where(ClientId.caller == Slot("caller"), ClientId.client_id == Slot("client_id"))
)


def client_call(db: sqlite3.Connection, caller: str | None, client_id: str) -> dict[str, Any] | None:
    """Give the write that ``caller`` (None: the owner) named so; None when there is none.

    ``fingerprint``, ``created_at``, and for a prompt its ``message`` and ``session``, for any other write
    its ``result`` as data.
    """
    found = _BY_KEY.record(db, caller=caller or "", client_id=client_id)
    if found is None or found["result"] is None:
        return found
    return {**found, "result": read_json(found["result"], "client_id: result")}
