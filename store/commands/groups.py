"""Commands about groups of sessions: made, renamed, dissolved, put into an order."""

import sqlite3
from collections.abc import Sequence

from showcaller.store.conflict import Conflict
from showcaller.store.models import Fanout, Session, SessionGroup, group_stands
from showcaller.store.statement import Slot, Statement, insertion

_THIS = SessionGroup.id == Slot("group")
_INSERT = insertion(SessionGroup, leave_out=frozenset({"place"}))
_FIND = Statement(SessionGroup.select(SessionGroup.id).where(_THIS, group_stands()))
_NAMED = Statement(
    SessionGroup.select(SessionGroup.id, SessionGroup.name).where(
        SessionGroup.name.is_null(False), group_stands()
    )
)
_EXISTS = Statement(SessionGroup.select(SessionGroup.id).where(_THIS))
_RENAME = Statement(SessionGroup.update(name=Slot("name")).where(_THIS))
_HAS_FANOUT = Statement(Fanout.select(Fanout.group).where(Fanout.group == Slot("group")))
_EMPTY = Statement(Session.update(group=None).where(Session.group == Slot("group")))
_DELETE = Statement(SessionGroup.delete().where(_THIS))
_FORGET_PLACES = Statement(SessionGroup.update(place=None).where(SessionGroup.place.is_null(False)))
_PLACE = Statement(SessionGroup.update(place=Slot("place")).where(_THIS))


def create_group(
    db: sqlite3.Connection, group: str, name: str | None, origin: str, at: int, head: str | None = None
) -> None:
    """Make a group; ``origin`` is ``owner`` or ``agent``, ``head`` the session that leads it, if one does."""
    _INSERT.run(db, id=group, name=name, origin=origin, head=head, created_at=at)


def refuse_dissolved(db: sqlite3.Connection, group: str) -> None:
    """Raise Conflict ``group`` for one that is to be joined and was dissolved; an empty one can be joined."""
    if _EXISTS.row(db, group=group) is None:
        raise Conflict("group", f"there is no group {group}")


def refuse_gone_group(db: sqlite3.Connection, group: str) -> None:
    """Raise Conflict ``group`` unless the group is there."""
    if _FIND.row(db, group=group) is None:
        raise Conflict("group", f"there is no group {group}")


def groups_called(db: sqlite3.Connection, name: str) -> list[str]:
    """Give the ids of the groups that somebody gave this name, whatever the case."""
    wanted = name.casefold()
    return [group for group, other in _NAMED.rows(db) if other.casefold() == wanted]


def rename_group(db: sqlite3.Connection, group: str, name: str) -> None:
    """Give a group another name; raises Conflict ``group`` when it is not there."""
    refuse_gone_group(db, group)
    _RENAME.run(db, group=group, name=name)


def dissolve_group(db: sqlite3.Connection, group: str) -> dict[str, int]:
    """Have the sessions of a group in none, and forget it; gives ``{"sessions"}``, how many they were.

    Raises Conflict ``group`` when it is not there, ``fanout`` when a fan-out goes by it.
    """
    refuse_gone_group(db, group)
    if _HAS_FANOUT.row(db, group=group) is not None:
        raise Conflict("fanout", f"group {group} is that of a fan-out")
    left = _EMPTY.run(db, group=group).rowcount
    _DELETE.run(db, group=group)
    return {"sessions": left}


def order_groups(db: sqlite3.Connection, groups: Sequence[str]) -> None:
    """Have these groups listed first, in this order, and no others; raises Conflict ``group``."""
    _FORGET_PLACES.run(db)
    for place, group in enumerate(groups, 1):
        refuse_gone_group(db, group)
        _PLACE.run(db, group=group, place=place)
