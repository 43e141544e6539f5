"""Commands that make sessions and take prompts for them."""

import sqlite3
from typing import Any, NotRequired, TypedDict

from showcaller.store.commands.arrivals import HandOver, arrive, has_unfinished
from showcaller.store.commands.groups import create_group, refuse_dissolved
from showcaller.store.commands.holds import refuse_archived, release_queue
from showcaller.store.commands.queue import NewMessage, duplicate_of, refuse_full_queue, touch_session
from showcaller.store.commands.unasked import count_prompt
from showcaller.store.conflict import Conflict
from showcaller.store.models import Session
from showcaller.store.statement import Slot, Statement, insertion

_SET_AGENT_SESSION = Statement(
    Session.update(agent_session_id=Slot("agent_session")).where(
        Session.id == Slot("session"), Session.deleted_at.is_null()
    )
)


class NewSession(TypedDict):
    """A session as its starter's side gives it; ``created_by`` is the session of the agent that starts it.

    With ``starter_group``, the id of a group that may be made, it joins its starter's group; when that has
    none, the new group holds both, with the starter as its head.
    """

    id: str
    title: str
    provider: str
    mode: str
    origin: str
    created_at: int
    model: NotRequired[str | None]
    effort: NotRequired[str | None]
    cwd: NotRequired[str | None]
    group: NotRequired[str | None]
    created_by: NotRequired[str | None]
    repo: NotRequired[str | None]
    branch: NotRequired[str | None]
    may_create_sessions: NotRequired[bool]
    starter_group: NotRequired[str]
    agent_session_id: NotRequired[str]


_BLANK: dict[str, Any] = {
    "model": None,
    "effort": None,
    "cwd": None,
    "group": None,
    "created_by": None,
}
_RARE: dict[str, Any] = {"repo": None, "branch": None, "may_create_sessions": False, "agent_session_id": None}
_COMES_LATER = frozenset(
    {
        "archived_at",
        "held_at",
        "deleted_at",
        "auto_compact_window",
        "thinking_enabled",
        "thinking_display",
        "prompts_unasked",
    }
)
_GIVEN = frozenset(NewSession.__annotations__)

_INSERT_SESSION = insertion(Session, leave_out=_COMES_LATER | _RARE.keys())
_INSERT_RARE_SESSION = insertion(Session, leave_out=_COMES_LATER)
_GROUP_OF = Statement(
    Session.select(Session.group).where(Session.id == Slot("session"), Session.deleted_at.is_null())
)
_JOIN = Statement(Session.update(group=Slot("group")).where(Session.id == Slot("session")))


def create_session(
    db: sqlite3.Connection,
    session: NewSession,
    message: NewMessage | None,
    *,
    unasked_limit: int | None = None,
    hand_over: HandOver | None = None,
) -> dict[str, Any]:
    """Make a session, with its first prompt queued if there is one, or handed over at once.

    Gives what ``arrive`` gives of the message (a ``position`` of None without one), or
    ``{"duplicate", "session"}`` of the first when the same caller sent the same client id before. An agent's
    prompt counts as ``count_prompt`` says. Raises Conflict ``group`` (no such group), ``unasked``, or
    ``client_id`` (that id was used for something else).
    """
    foreign = session.keys() - _GIVEN
    if foreign:
        raise TypeError(f"a new session does not take: {', '.join(sorted(foreign))}")
    first = duplicate_of(db, message, None) if message is not None else None
    if first is not None:
        return first
    group = _starters_group(db, session) if "starter_group" in session else session.get("group")
    if group is not None:
        refuse_dissolved(db, group)
    if message is not None:
        _count(db, message, unasked_limit)
    is_rare = not _RARE.keys().isdisjoint(session)
    (_INSERT_RARE_SESSION if is_rare else _INSERT_SESSION).run(
        db,
        **{
            **_BLANK,
            **(_RARE if is_rare else {}),
            **{name: value for name, value in session.items() if name != "starter_group"},
            "group": group,
            "last_activity_at": session["created_at"],
            "message_count": 0 if message is None else 1,
        },
    )
    return {"position": None} if message is None else arrive(db, message, session["id"], hand_over)


def _starters_group(db: sqlite3.Connection, session: NewSession) -> str | None:
    """Give the group of who starts a session, made if need be; None when the starter was deleted."""
    starter = session.get("created_by")
    row = _GROUP_OF.row(db, session=starter)
    if row is None or row[0] is not None:
        return None if row is None else str(row[0])
    group, at = str(session.get("starter_group")), session["created_at"]
    create_group(db, group, None, "agent", at, head=starter)
    _JOIN.run(db, session=starter, group=group)
    return group


def _count(db: sqlite3.Connection, message: NewMessage, unasked_limit: int | None) -> None:
    """Count a prompt among those of the agent that sends it, if one does."""
    caller = message.get("caller")
    if caller is not None and message["origin"] == "agent":
        count_prompt(db, caller, unasked_limit)


def accept_message(
    db: sqlite3.Connection,
    message: NewMessage,
    *,
    queue_limit: int,
    releases: bool = False,
    unasked_limit: int | None = None,
    hand_over: HandOver | None = None,
) -> dict[str, Any]:
    """Queue a prompt for an existing session; with ``releases`` its queue is held no longer.

    With ``hand_over`` it is handed over at once, unless its queue is held or it is not the only one to be
    done. Gives what ``arrive`` does, or ``{"duplicate", "session"}`` of the first as ``create_session`` does
    (which releases nothing). An agent's prompt counts as ``count_prompt`` says, and what the owner types has
    the prompts of this session's agent count from 0. Raises Conflict ``missing`` or ``archived`` (the
    session), ``queue`` (``queue_limit`` messages wait already), ``unasked`` or ``client_id``.
    """
    session = message.get("session")
    if session is None:
        raise TypeError("a message for an existing session names it in 'session'")
    first = duplicate_of(db, message, session)
    if first is not None:
        return first
    held_at = refuse_archived(db, session)
    if hand_over is not None and (held_at is not None or has_unfinished(db, session)):
        hand_over = None
    if hand_over is None:
        refuse_full_queue(db, session, queue_limit)
    _count(db, message, unasked_limit)
    arrived = arrive(db, message, session, hand_over)
    touch_session(db, session, message["created_at"], added=1, typed=message["origin"] == "owner")
    if releases and held_at is not None:
        release_queue(db, session)
    return arrived


def set_agent_session(db: sqlite3.Connection, session: str, agent_session: str) -> dict[str, Any]:
    """Keep the agent's own id of the conversation that a session continues; gives ``{}``.

    Raises Conflict ``missing``.
    """
    if not _SET_AGENT_SESSION.run(db, session=session, agent_session=agent_session).rowcount:
        raise Conflict("missing", f"there is no session {session}")
    return {}
