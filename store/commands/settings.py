"""Commands about what the owner sets."""

import json
import sqlite3
from typing import Any

from showcaller.store.commands.approvals import forget_consent
from showcaller.store.models import Setting
from showcaller.store.statement import Slot, Statement

_SET = Statement(
    Setting.insert(name=Slot("name"), value=Slot("value")).on_conflict(
        conflict_target=[Setting.name], update={Setting.value: Slot("value")}
    )
)
_UNSET = Statement(Setting.delete().where(Setting.name == Slot("name")))


def set_setting(db: sqlite3.Connection, name: str, value: Any, shut_out_at: int | None = None) -> None:
    """Keep what the owner set (plain data); None goes back to what holds when nobody set anything.

    When agents are shut out by it, at ``shut_out_at``, what the owner is asked about their calls is withdrawn
    and what was allowed to them is forgotten.
    """
    if shut_out_at is not None:
        forget_consent(db, shut_out_at)
    if value is None:
        _UNSET.run(db, name=name)
    else:
        _SET.run(db, name=name, value=json.dumps(value))
