"""Commands about the relay itself."""

import sqlite3
from typing import Any

from showcaller.store.models import Relay
from showcaller.store.statement import Slot, Statement, insertion

_FIND_RELAY = Statement(Relay.select(Relay.id, Relay.name, Relay.created_at))
_INSERT_RELAY = insertion(Relay)
_REOPEN_RELAY = Statement(
    Relay.update(version=Slot("version"), opened_at=Slot("at")).where(Relay.id == Slot("relay"))
)


def open_relay(db: sqlite3.Connection, relay: str, name: str, version: str, at: int) -> dict[str, Any]:
    """Note that the relay runs again, and give its row: a store keeps the id and name it got first."""
    row = _FIND_RELAY.row(db)
    if row is None:
        created_at = at
        _INSERT_RELAY.run(
            db, id=relay, name=name, version=version, created_at=at, opened_at=at, pruned_cursor=0
        )
    else:
        relay, name, created_at = row
        _REOPEN_RELAY.run(db, relay=relay, version=version, at=at)
    return {"id": relay, "name": name, "version": version, "created_at": created_at, "opened_at": at}
