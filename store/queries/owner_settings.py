"""Queries about what the owner set."""

import sqlite3
from typing import Any

from showcaller.store.models import Setting
from showcaller.store.soundness import read_json
from showcaller.store.statement import Statement

_ALL = Statement(Setting.select(Setting.name, Setting.value).order_by(Setting.name))


def settings(db: sqlite3.Connection) -> dict[str, Any]:
    """Give what the owner set, by name; what is not there was never set; raises RowDamaged."""
    return {name: read_json(value, f"setting: {name}") for name, value in _ALL.rows(db)}
