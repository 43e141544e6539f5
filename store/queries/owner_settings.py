"""Queries about what the owner set."""

import json
import sqlite3
from typing import Any

from showcaller.store.models import Setting
from showcaller.store.statement import Statement

_ALL = Statement(Setting.select(Setting.name, Setting.value).order_by(Setting.name))


def settings(db: sqlite3.Connection) -> dict[str, Any]:
    """Give what the owner set, by name; what is not there was never set."""
    return {name: json.loads(value) for name, value in _ALL.rows(db)}
