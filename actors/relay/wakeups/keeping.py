"""What is kept of a watching conversation: taken up from the store, changed, and stored again. Pure.

An actor that watches goes on from what ``kept`` gives, with what ``seen`` and ``leaving`` make of it, and has
``changes`` of two of these stored in one transaction with the message of what leaves. Times are milliseconds
since the epoch (UTC).
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.arguments import QuietHours
from showcaller.actors.relay.views import stop_reason_of
from showcaller.actors.relay.wakeups.event_lines import AtWork, Told, wake_message
from showcaller.actors.relay.wakeups.release import (
    Hold,
    Key,
    Pace,
    Terms,
    Wakeup,
    Watcher,
    next_due,
    release,
    take,
)
from showcaller.actors.relay.wakeups.taking import Happened, Watch, is_urgent, taken
from showcaller.actors.relay.watching import TURN_ENDS, Row

HERE: Final = ""
"""The relay of events of this one's log."""

_DELETED: Final = "deleted"
_FOUND: Final = ("subscription", "watched", "at_work")
"""What the relay says in the detail of an event that it has found itself."""


class News(NamedTuple):
    """An event that was taken and has not left: what its line tells, and the most hops of who took it."""

    told: Told
    hops: int


class Ended(NamedTuple):
    """Why a subscription has ended, and the last event that it has seen."""

    reason: str
    since: int


class Kept(NamedTuple):
    """A watching conversation as its store has it, or is to have it.

    ``watches`` are its open subscriptions by their ids, ``hops`` those of each that ``watcher`` has the terms
    of. ``news`` are the events that wait, ``put_away`` those of the sessions that they name of which the log
    has told that they were put away, and ``ended`` the subscriptions that have ended and are not stored as
    ended yet.
    """

    watches: Mapping[str, Watch] = MappingProxyType({})
    hops: Mapping[str, int] = MappingProxyType({})
    watcher: Watcher = Watcher()
    news: Mapping[Key, News] = MappingProxyType({})
    put_away: frozenset[str] = frozenset()
    ended: Mapping[str, Ended] = MappingProxyType({})

    @property
    def is_over(self) -> bool:
        """Whether nothing is watched, and nothing waits to be told."""
        return not (self.watches or self.news)

    @property
    def since(self) -> int | None:
        """The event after which the log is to be read; None when nothing is watched."""
        return min((watch.since for watch in self.watches.values()), default=None)

    @property
    def followed(self) -> frozenset[str] | None:
        """The sessions of which something may be taken; None for all of the relay."""
        followed: frozenset[str] = frozenset()
        for watch in self.watches.values():
            if watch.sessions is None:
                return None
            followed |= watch.sessions
        return followed

    def due(self, now: int) -> int | None:
        """Give the next instant at which ``leaving`` is to be asked; None when nothing waits."""
        return next_due(self.watcher, now)


class Leaving(NamedTuple):
    """What becomes of a watching conversation when something leaves: the message of it, if one does."""

    kept: Kept
    wakeup: Wakeup | None = None
    text: str = ""
    hops: int = 0


# -- from the store ----------------------------------------------------------------------------------


def kept(record: Row) -> Kept:
    """Give a watching conversation as the store's ``watching`` tells of it."""
    rows = record["subscriptions"]
    hops = {row["id"]: row["hops"] for row in rows}
    holds = tuple(
        Hold(row["subscription"], Key(HERE, row["cursor"]), row["due_at"]) for row in record["held"]
    )
    told = {Key(HERE, row["cursor"]): _told_from(row["event"]) for row in record["held"]}
    return Kept(
        watches={row["id"]: _watch(row) for row in rows if row["ended_at"] is None},
        hops=hops,
        watcher=_with_pace(Watcher({row["id"]: _terms(row) for row in rows}, holds), record["pace"]),
        news={
            event: News(each, max(hops[hold.subscription] for hold in holds if hold.event == event))
            for event, each in told.items()
        },
        put_away=frozenset(
            session["id"]
            for row in rows
            if row["ended_at"] is None
            for session in row["sessions"]
            if session["put_away"]
        ),
    )


def _watch(row: Row) -> Watch:
    return Watch(
        id=row["id"],
        watcher=row["watcher"],
        relay=row["relay"],
        sessions=None if row["watches_all"] else frozenset(each["id"] for each in row["sessions"]),
        excluded=frozenset(each["id"] for each in row["excluded"]),
        events=None if row["events"] is None else tuple(row["events"]),
        once=bool(row["once"]),
        matches=tuple(row["matches"] or ()),
        heartbeat=row["heartbeat_minutes"] is not None,
        since=row["cursor"],
    )


def _terms(row: Row) -> Terms:
    return Terms(row["digest_minutes"], quiet_hours_of(row), row["next_digest_at"])


def quiet_hours_of(row: Row) -> QuietHours | None:
    """Give the quiet hours of a subscription, as the store has it; None without any."""
    if row["quiet_from"] is None:
        return None
    return QuietHours(start=row["quiet_from"], end=row["quiet_to"], tz=row["quiet_tz"])


def _with_pace(watcher: Watcher, pace: Row | None) -> Watcher:
    if pace is None:
        return watcher
    return watcher._replace(
        wakeups=tuple(pace["wakeups"]), window_ends_at=pace["window_ends_at"], digest_at=pace["digest_at"]
    )


# -- what the log tells ------------------------------------------------------------------------------


def happened(row: Row) -> Happened:
    """Give an event of this relay's log, as ``told_events`` has it, with what subscriptions ask about it."""
    return Happened(
        row["cursor"],
        row["kind"],
        HERE,
        row["session"],
        row["title"],
        row["text"],
        subscription=row["detail"].get("subscription"),
    )


def told(row: Row) -> Told:
    """Give what the line of an event of this relay's log tells."""
    kind, text = row["kind"], row["text"]
    outcome = ""
    if kind == "archived":
        outcome, text = (_DELETED, "") if text == _DELETED else ("", text)
    elif kind in TURN_ENDS and row["status"] is not None:
        outcome = _how_it_ended(row)
    found = {name: row["detail"][name] for name in _FOUND if name in row["detail"]}
    return _told_from(
        {
            "kind": kind,
            "session": row["session"],
            "title": row["title"],
            "outcome": outcome,
            "about": row["task"] or "",
            "text": text,
            **found,
        }
    )


def _how_it_ended(row: Row) -> str:
    """Say of a turn that failed why, and of another how it ended."""
    if row["kind"] == "error":
        return stop_reason_of(row["status"], row["stop_reason"]) or ""
    return str(row["status"])


def seen(before: Kept, rows: Sequence[Row], now: int, pace: Pace) -> Kept:
    """Give what is kept after the log has told further events, in their order.

    When none is taken, all stay where they were, so that nothing need be stored; else all go on, so that no
    event is looked at again once one after it may have left.
    """
    events = [happened(row) for row in rows]
    by = {name: taken(watch, events) for name, watch in before.watches.items()}
    takers: dict[int, list[str]] = {}
    for name, its in by.items():
        for event in its.events:
            takers.setdefault(event.cursor, []).append(name)
    after = before
    for row in rows:
        if row["cursor"] in takers:
            after = _took(after, row, takers[row["cursor"]], now, pace)
    put_away = before.put_away | {event.session for event in events if event.kind == "archived"}
    ended = {name: Ended("once", its.ended_by.cursor) for name, its in by.items() if its.ended_by is not None}
    for name, watch in before.watches.items():
        if name not in ended and (reason := _all_put_away(watch, put_away, rows)) is not None:
            ended[name] = Ended(reason, events[-1].cursor)
    watches = {
        name: watch._replace(since=max(watch.since, events[-1].cursor)) if takers else watch
        for name, watch in before.watches.items()
        if name not in ended
    }
    return _tidied(after._replace(watches=watches, put_away=put_away, ended={**before.ended, **ended}))


def _took(kept: Kept, row: Row, names: Sequence[str], now: int, pace: Pace) -> Kept:
    key = Key(HERE, row["cursor"])
    watcher = take(kept.watcher, key, names, now, pace, urgent=is_urgent(row["kind"]))
    news = News(told(row), max(kept.hops[name] for name in names))
    return kept._replace(watcher=watcher, news={**kept.news, key: news})


def _all_put_away(watch: Watch, put_away: Collection[str], rows: Iterable[Row]) -> str | None:
    """Say why a subscription ends when the log has told that the last of what it watches is put away."""
    if watch.sessions is None or any(each not in put_away for each in watch.sessions - {watch.watcher}):
        return None
    last = [row["text"] for row in rows if row["kind"] == "archived" and row["session"] in watch.sessions]
    if not last:
        return None
    return _DELETED if last[-1] == _DELETED else "archived"


# -- what leaves -------------------------------------------------------------------------------------


def leaving(before: Kept, now: int, pace: Pace, *, unread: str | None = None) -> Leaving:
    """Give what leaves now, and what is kept then; ``unread`` is the text of a message that is extended."""
    left, wakeup = release(before.watcher, now, pace, extends=unread is not None)
    if wakeup is None:
        return Leaving(before._replace(watcher=left))
    lines = {key: before.news[key].told for key in wakeup.events}
    text = wake_message(wakeup, lines, before.watcher.terms, before=unread)
    hops = max(before.news[key].hops for key in wakeup.events)
    news = {key: each for key, each in before.news.items() if key not in lines}
    return Leaving(_tidied(before._replace(watcher=left, news=news)), wakeup, text, hops)


def _tidied(kept: Kept) -> Kept:
    """Forget the terms of subscriptions that have ended and hold nothing, and sessions that none names."""
    holding = {hold.subscription for hold in kept.watcher.holds} | kept.watches.keys()
    terms = {name: terms for name, terms in kept.watcher.terms.items() if name in holding}
    hops = {name: hops for name, hops in kept.hops.items() if name in holding}
    named = frozenset[str]().union(*(watch.sessions or () for watch in kept.watches.values()))
    watcher = kept.watcher._replace(terms=terms)
    return kept._replace(watcher=watcher, hops=hops, put_away=kept.put_away & named)


# -- to the store ------------------------------------------------------------------------------------


def changes(before: Kept, after: Kept) -> dict[str, Any]:
    """Give what ``advance_watcher`` takes to store ``after`` where the store has ``before``."""
    held, holds = set(before.watcher.holds), set(after.watcher.holds)
    slots = {(hold.subscription, hold.event.cursor) for hold in after.watcher.holds}
    paces = [_pace(each.watcher) for each in (before, after)]
    return {
        "seen": list(_seen(before, after)),
        "held": [_held(hold, after.news) for hold in after.watcher.holds if hold not in held],
        "let_go": [
            slot
            for hold in before.watcher.holds
            if hold not in holds and (slot := (hold.subscription, hold.event.cursor)) not in slots
        ],
        "pace": None if paces[0] == paces[1] else paces[1],
    }


def _seen(before: Kept, after: Kept) -> Iterator[dict[str, Any]]:
    for name, was in before.watches.items():
        ended = after.ended.get(name)
        since = after.watches[name].since if ended is None else ended.since
        digest_at = _next_digest(after, name)
        if ended is None and (since, digest_at) == (was.since, _next_digest(before, name)):
            continue
        reason = None if ended is None else ended.reason
        yield {
            "subscription": name,
            "before": was.since,
            "cursor": since,
            "next_digest_at": digest_at,
            "end_reason": reason,
        }


def _next_digest(kept: Kept, name: str) -> int | None:
    terms = kept.watcher.terms.get(name)
    return None if terms is None else terms.next_digest_at


def _held(hold: Hold, news: Mapping[Key, News]) -> dict[str, Any]:
    return {
        "subscription": hold.subscription,
        "cursor": hold.event.cursor,
        "due_at": hold.due_at,
        "event": _told_as_text(news[hold.event].told),
    }


def _told_as_text(told: Told) -> str:
    """Write what the line of an event tells; what is empty is left out."""
    fields = {
        name: value for name, value in told._asdict().items() if value != Told._field_defaults.get(name)
    }
    return json.dumps(fields, ensure_ascii=False)


def _told_from(fields: Mapping[str, Any]) -> Told:
    told = Told(**fields)  # lists where it has tuples, as JSON has none
    return told._replace(at_work=tuple(AtWork(*each) for each in told.at_work))


def _pace(watcher: Watcher) -> dict[str, Any]:
    return {
        "wakeups": json.dumps(watcher.wakeups),
        "window_ends_at": watcher.window_ends_at,
        "digest_at": watcher.digest_at,
    }
