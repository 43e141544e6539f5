"""What of the event log fires for whom, and what is still pending in a session: pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from showcaller.actors.contract.outside import EventView, Until, WatchedView
from showcaller.actors.relay import views
from showcaller.actors.relay.card_records import waiting_of

Row = Mapping[str, Any]

TURN_ENDS: Final = frozenset({"turn_end", "error"})
"""The events of which each turn has one: its end, or how it failed."""
_KINDS: Final[Mapping[Until, frozenset[str]]] = MappingProxyType(
    {
        "turn-end": TURN_ENDS,
        "awaiting-input": frozenset({"question_asked"}),
    }
)
_PROCESS_GONE: Final = frozenset({"died", "interrupted"})


def fires(row: Row, until: Collection[Until]) -> bool:
    """Whether an event, as ``told_events`` gives it, is one that somebody waits for.

    ``exited`` is the end of an agent's process other than by going to sleep: it died, or was cut down with
    its worker, and its turn was with a worker then. A process that ends because its turn does has done what
    it was there for, as a plain command's.
    """
    if "any" in until:
        return True
    kind = row["kind"]
    if any(kind in _KINDS.get(word, ()) for word in until):
        return True
    return "exited" in until and kind == "error" and _is_exit(row)


def _is_exit(row: Row) -> bool:
    return row["handed_at"] is not None and row["stop_reason"] in _PROCESS_GONE


def fired(rows: Iterable[Row], sessions: Collection[str] | None, until: Collection[Until]) -> list[Row]:
    """Give those of the events that fire, in their order, for who watches these sessions (None for all)."""
    return [row for row in rows if (sessions is None or row["session"] in sessions) and fires(row, until)]


def is_pending(session: Row) -> bool:
    """Whether something is still to come in a session, as ``watched_sessions`` gives it."""
    return session["running"] is not None or session["queued"] > 0 or bool(session["tasks"])


def is_idle(session: Row) -> bool:
    """Whether no turn is to come in it: none runs and none waits, whatever goes on in its background."""
    return session["running"] is None and session["queued"] == 0


def event_views(rows: Iterable[Row]) -> tuple[EventView, ...]:
    """Give events as callers read them."""
    return tuple(_event_view(row) for row in rows)


def _event_view(row: Row) -> EventView:
    is_end = row["kind"] in TURN_ENDS
    return EventView(
        cursor=row["cursor"],
        event=row["kind"],
        session=row["session"],
        title=row["title"],
        at=row["at"],
        message_id=row["message"],
        task_id=row["task"],
        status=row["status"] if is_end else None,
        stop_reason=views.stop_reason_of(row["status"], row["stop_reason"]) if is_end else None,
        text=row["text"],
    )


def watched_views(sessions: Sequence[Row]) -> tuple[WatchedView, ...]:
    """Give sessions as callers read them."""
    return tuple(
        WatchedView(
            session=row["id"],
            title=row["title"],
            state=views.state_of(row),
            waiting=waiting_of(row["waits_on"]),
            queued=row["queued"],
            last_turn=views.last_turn_of(row["last_turn"]),
            message_id=row["running"],
        )
        for row in sessions
    )
