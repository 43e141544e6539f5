"""Commands that change what a session is: its settings, and the group that it is in."""

import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import Any, NotRequired, TypedDict

from showcaller.store.commands.archiving import refuse_running
from showcaller.store.commands.arrivals import has_unfinished
from showcaller.store.commands.groups import create_group, groups_called, refuse_dissolved
from showcaller.store.commands.holds import refuse_archived
from showcaller.store.commands.repeats import NamedCall, remember_result, repeated_call
from showcaller.store.conflict import Conflict
from showcaller.store.models import Message, Session, SessionGroup, literal, unfinished
from showcaller.store.statement import Slot, Statement

SETTINGS = frozenset(
    {
        "title",
        "model",
        "mode",
        "effort",
        "cwd",
        "auto_compact_window",
        "thinking_enabled",
        "thinking_display",
        "may_create_sessions",
    }
)
"""The columns of a session that can be changed."""


class Place(TypedDict):
    """Where a session is moved: into the ``group``, out of any with None.

    With a ``name`` and an ``origin`` that group is made, unless there is one of that name by then.
    """

    group: str | None
    name: NotRequired[str]
    origin: NotRequired[str]


_THIS = Session.id == Slot("session")
_HEAD = Session.alias("head")
_TITLE_OF_HEAD = _HEAD.select(_HEAD.title).where(_HEAD.id == SessionGroup.head)
# The group that its head leaves keeps the name under which it was listed.
_LEAVE = Statement(
    SessionGroup.update(name=_TITLE_OF_HEAD).where(
        SessionGroup.head == Slot("session"), SessionGroup.name.is_null()
    )
)
_UNHEAD = Statement(SessionGroup.update(head=None).where(SessionGroup.head == Slot("session")))
_MOVE = Statement(Session.update(group=Slot("group")).where(_THIS))
_TIGHTEN = Statement(
    Message.update(mode=Slot("mode")).where(
        Message.status == literal("queued"),
        Message.session == Slot("session"),
        unfinished(Message.status),
        Message.mode == Slot("looser"),
    )
)


def update_session(
    db: sqlite3.Connection,
    session: str,
    values: dict[str, Any],
    at: int,
    *,
    place: Place | None = None,
    only_if_idle: bool = False,
    looser: Sequence[str] = (),
    call: NamedCall | None = None,
) -> dict[str, Any]:
    """Change settings of a session, and the group that it is in; gives ``{"group_created"}``.

    With ``only_if_idle`` nothing of it may run or wait. What waits in its queue with one of the modes
    ``looser`` runs in the new one. Gives ``{"duplicate_result"}`` of the same ``call``. Raises Conflict
    ``missing``, ``archived``, ``busy``, ``group`` (it is not there, or several have the name) or
    ``client_id``.
    """
    foreign = values.keys() - SETTINGS
    if foreign:
        raise TypeError(f"a session is not changed in: {', '.join(sorted(foreign))}")
    repeated = repeated_call(db, call)
    if repeated is not None:
        return repeated
    refuse_archived(db, session)
    if only_if_idle:
        refuse_running(db, session)
        if has_unfinished(db, session):
            raise Conflict("busy", f"messages wait in session {session}")
    made = place is not None and _move(db, session, place, at)
    if values:
        _setting(frozenset(values)).run(db, session=session, **values)
    for mode in looser:
        _TIGHTEN.run(db, session=session, mode=values["mode"], looser=mode)
    value = {"group_created": made}
    remember_result(db, call, value, at)
    return value


@cache
def _setting(names: frozenset[str]) -> Statement:
    fields = Session._meta.fields
    return Statement(Session.update({fields[name]: Slot(name) for name in sorted(names)}).where(_THIS))


def _move(db: sqlite3.Connection, session: str, place: Place, at: int) -> bool:
    """Move a session into its place; tells whether a group was made for it."""
    group, name, made = place["group"], place.get("name"), False
    if group is not None and name is not None:
        there = groups_called(db, name)
        if len(there) > 1:
            raise Conflict("group", f"{len(there)} groups have that name by now")
        made = not there
        if made:
            create_group(db, group, name, place.get("origin", "agent"), at)
        else:
            group = there[0]
    elif group is not None:
        refuse_dissolved(db, group)
    _LEAVE.run(db, session=session)
    _UNHEAD.run(db, session=session)
    _MOVE.run(db, session=session, group=group)
    return made
