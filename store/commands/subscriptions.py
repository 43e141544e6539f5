"""Commands about subscriptions: they begin and end, and what they take reaches their watcher once."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from peewee import fn

from showcaller.store.commands.arrivals import HandOver
from showcaller.store.commands.holds import refuse_archived
from showcaller.store.commands.idling import NO_SESSION
from showcaller.store.commands.queue import NewMessage, append_event
from showcaller.store.commands.repeats import NamedCall, remember_result, repeated_call
from showcaller.store.commands.sessions import accept_message
from showcaller.store.conflict import Conflict
from showcaller.store.models import (
    HERE,
    Delivery,
    Event,
    HeldEvent,
    Message,
    Subscription,
    Watched,
    Watcher,
    literal,
    unfinished,
)
from showcaller.store.statement import Slot, Statement, insertion


class NewSubscription(TypedDict):
    """A subscription as its watcher's side gives it: ``events`` and ``matches`` are JSON text.

    ``next_digest_at`` goes with ``digest_minutes``, and the three of the quiet hours with each other.
    """

    id: str
    watcher: str
    watches_all: bool
    once: bool
    stalled_minutes: int
    hops: int
    events: NotRequired[str | None]
    matches: NotRequired[str | None]
    heartbeat_minutes: NotRequired[int | None]
    digest_minutes: NotRequired[int | None]
    quiet_from: NotRequired[str | None]
    quiet_to: NotRequired[str | None]
    quiet_tz: NotRequired[str | None]
    next_digest_at: NotRequired[int | None]


class Seen(TypedDict):
    """How far a subscription has seen the log: ``cursor``, where it was at ``before``.

    ``next_digest_at`` is when its digest comes the next time; with ``end_reason`` this ends it.
    """

    subscription: str
    before: int
    cursor: int
    next_digest_at: NotRequired[int | None]
    end_reason: NotRequired[str | None]


class Wakeup(TypedDict):
    """What leaves for a watcher: its ``events`` by relay and cursor, in a message.

    That is a new ``message`` (with ``queue_limit`` and ``hand_over``, as ``accept_message`` takes them), or
    the one that ``extends`` names, which still waits, with the whole of its new ``text``.
    """

    events: Sequence[tuple[str, int]]
    message: NotRequired[NewMessage]
    queue_limit: NotRequired[int]
    hand_over: NotRequired[HandOver | None]
    extends: NotRequired[str]
    text: NotRequired[str]


_BLANK: dict[str, Any] = dict.fromkeys(
    (
        "events",
        "matches",
        "heartbeat_minutes",
        "digest_minutes",
        "quiet_from",
        "quiet_to",
        "quiet_tz",
        "next_digest_at",
    )
)
_GIVEN = frozenset(NewSubscription.__annotations__)
_THIS = Subscription.id == Slot("subscription")
_OPEN_OF = (Subscription.watcher == Slot("watcher"), Subscription.ended_at.is_null())
_ITS = HeldEvent.subscription == Slot("subscription")

_INSERT = insertion(Subscription, leave_out=frozenset({"ended_at", "end_reason"}))
_INSERT_WATCHED = insertion(Watched)
_IS_OPEN = Statement(Subscription.select(Subscription.id).where(_THIS, Subscription.ended_at.is_null()))
_COUNT = Statement(Subscription.select(fn.COUNT(Subscription.id)).where(*_OPEN_OF))
_NEWEST = Statement(Event.select(fn.MAX(Event.cursor)))
_OPEN = Statement(
    Subscription.select(Subscription.id)
    .where(*_OPEN_OF, Subscription.relay == Slot("relay"))
    .order_by(Subscription.created_at, Subscription.id)
)
_ALL_OPEN = Statement(
    Subscription.select(Subscription.id).where(*_OPEN_OF).order_by(Subscription.created_at, Subscription.id)
)
_END = Statement(
    Subscription.update(ended_at=Slot("at"), end_reason=Slot("reason")).where(
        _THIS, Subscription.ended_at.is_null()
    )
)
_SEE = Statement(
    Subscription.update(cursor=Slot("cursor"), next_digest_at=Slot("next_digest_at")).where(
        _THIS,
        Subscription.watcher == Slot("watcher"),
        Subscription.ended_at.is_null(),
        Subscription.cursor == Slot("before"),
    )
)
_HOLD = Statement(
    HeldEvent.insert(
        {
            HeldEvent.subscription: Slot("subscription"),
            HeldEvent.cursor: Slot("cursor"),
            HeldEvent.event: Slot("event"),
            HeldEvent.due_at: Slot("due_at"),
        }
    ).on_conflict(
        conflict_target=[HeldEvent.subscription, HeldEvent.cursor], update={HeldEvent.due_at: Slot("due_at")}
    )
)
_LET_GO = Statement(HeldEvent.delete().where(_ITS, HeldEvent.cursor == Slot("cursor")))
_FORGET_HELD = Statement(HeldEvent.delete().where(_ITS))
_PACE = Statement(
    Watcher.insert(
        {
            Watcher.session: Slot("session"),
            Watcher.wakeups: Slot("wakeups"),
            Watcher.window_ends_at: Slot("window_ends_at"),
            Watcher.digest_at: Slot("digest_at"),
        }
    ).on_conflict_replace()
)
_FORGET_WATCHER = Statement(Watcher.delete().where(Watcher.session == Slot("watcher")))
_DELIVERED = Statement(
    Delivery.select(Delivery.message).where(
        Delivery.watcher == Slot("watcher"),
        Delivery.relay == Slot("relay"),
        Delivery.cursor == Slot("cursor"),
    )
)
_DELIVER = insertion(Delivery)
_EXTEND = Statement(
    Message.update(text=Slot("text")).where(
        Message.id == Slot("message"),
        Message.session == Slot("session"),
        Message.status == literal("queued"),
        unfinished(Message.status),
    )
)


def subscribe(
    db: sqlite3.Connection,
    subscription: NewSubscription,
    at: int,
    *,
    limit: int,
    sessions: Sequence[str] = (),
    excluded: Sequence[str] = (),
    call: NamedCall | None = None,
) -> dict[str, Any]:
    """Begin a subscription to ``sessions``, or to all but the ``excluded``.

    Gives ``{"subscription", "cursor"}``: what the log has up to there happened before it. Gives
    ``{"duplicate_result"}`` of the same ``call``. Raises Conflict ``subscriptions`` (the watcher has
    ``limit``), ``missing`` or ``archived`` (the watcher; a watched session that is ``missing``) or
    ``client_id``.
    """
    foreign = subscription.keys() - _GIVEN
    if foreign:
        raise TypeError(f"a new subscription does not take: {', '.join(sorted(foreign))}")
    if subscription["watches_all"] == bool(sessions):
        raise TypeError("a subscription is to all sessions or to those that it names")
    repeated = repeated_call(db, call)
    if repeated is not None:
        return repeated
    watcher = subscription["watcher"]
    refuse_archived(db, watcher)
    for session in sessions:
        refuse_archived(db, session)
    if _number(db, _COUNT, watcher=watcher) >= limit:
        raise Conflict("subscriptions", f"session {watcher} has {limit} subscriptions already")
    cursor = _number(db, _NEWEST)
    _INSERT.run(db, **{**_BLANK, **subscription, "relay": HERE, "cursor": cursor, "created_at": at})
    named = dict.fromkeys(excluded, True) | dict.fromkeys(sessions, False)
    _INSERT_WATCHED.run_many(
        db,
        [
            {"subscription": subscription["id"], "session": session, "excluded": is_excluded}
            for session, is_excluded in named.items()
        ],
    )
    value = {"subscription": subscription["id"], "cursor": cursor}
    remember_result(db, call, value, at)
    return value


def unsubscribe(
    db: sqlite3.Connection,
    watcher: str,
    reason: str,
    at: int,
    *,
    subscription: str | None = None,
    relay: str = HERE,
    call: NamedCall | None = None,
) -> dict[str, Any]:
    """End one subscription of a watcher, or all that it has on a relay, with what they hold.

    Gives ``{"ended"}``, their ids in the order in which they were made, or ``{"duplicate_result"}`` of the
    same ``call``. Raises Conflict ``missing`` when the one is not open, or ``client_id``.
    """
    repeated = repeated_call(db, call)
    if repeated is not None:
        return repeated
    ended = [each for (each,) in _OPEN.rows(db, watcher=watcher, relay=relay)]
    if subscription is not None:
        if subscription not in ended:
            raise Conflict("missing", f"session {watcher} has no subscription {subscription}")
        ended = [subscription]
    _end(db, ended, reason, at)
    value = {"ended": ended}
    remember_result(db, call, value, at)
    return value


def tell_heartbeat(
    db: sqlite3.Connection, subscription: str, at: int, sessions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Append a heartbeat for a subscription: which of the sessions that it watches work, and since when.

    ``sessions`` are as ``at_work`` gives them. Gives ``{"event"}``, its cursor. Raises Conflict ``moved``
    when the subscription has ended.
    """
    if _IS_OPEN.row(db, subscription=subscription) is None:
        raise Conflict("moved", f"subscription {subscription} has ended")
    working = [[each["id"], each["title"], each["since"]] for each in sessions]
    detail = json.dumps({"subscription": subscription, "at_work": working}, ensure_ascii=False)
    return {"event": append_event(db, NO_SESSION, "heartbeat", at, detail=detail)}


def end_watching(db: sqlite3.Connection, watcher: str, reason: str, at: int) -> None:
    """End all that a session watches, on whatever relay: it is put away, and nothing reaches it any more."""
    _end(db, [each for (each,) in _ALL_OPEN.rows(db, watcher=watcher)], reason, at)
    _FORGET_WATCHER.run(db, watcher=watcher)


def advance_watcher(
    db: sqlite3.Connection,
    watcher: str,
    at: int,
    *,
    seen: Sequence[Seen] = (),
    held: Sequence[Mapping[str, Any]] = (),
    let_go: Sequence[tuple[str, int]] = (),
    pace: Mapping[str, Any] | None = None,
    wakeup: Wakeup | None = None,
) -> dict[str, Any]:
    """Store in one step what a watcher's subscriptions have taken, hold, and let go, and its wake-up.

    ``held`` are rows of held events with ``subscription``, ``cursor``, ``due_at`` and ``event`` (JSON text),
    new ones or with another time; ``let_go`` are those that go, by subscription and cursor; ``pace`` has the
    ``wakeups`` (JSON text), ``window_ends_at`` and ``digest_at`` from now on.

    Gives ``{}``, or what ``accept_message`` does for the message of the wake-up. Raises Conflict ``moved``
    (a subscription has ended, or has seen more than ``before``), ``delivered`` (one of the events has
    reached the watcher already), ``read`` (what was to be extended waits no more), and those of
    ``accept_message``; nothing is stored then, and the watcher is to be looked at anew.
    """
    for each in seen:
        _see(db, watcher, each, at)
    _HOLD.run_many(db, [{"event": None, **row} for row in held])
    _LET_GO.run_many(db, [{"subscription": each, "cursor": cursor} for each, cursor in let_go])
    if pace is not None:
        _PACE.run(db, session=watcher, **pace)
    return {} if wakeup is None else _wake(db, watcher, wakeup, at)


def _see(db: sqlite3.Connection, watcher: str, seen: Seen, at: int) -> None:
    named = {**seen, "next_digest_at": seen.get("next_digest_at")}
    if not _SEE.run(db, watcher=watcher, **named).rowcount:
        raise Conflict("moved", f"subscription {seen['subscription']} is not where it was")
    reason = seen.get("end_reason")
    if reason is not None:
        _END.run(db, subscription=seen["subscription"], reason=reason, at=at)


def _wake(db: sqlite3.Connection, watcher: str, wakeup: Wakeup, at: int) -> dict[str, Any]:
    for relay, cursor in wakeup["events"]:
        before = _DELIVERED.row(db, watcher=watcher, relay=relay, cursor=cursor)
        if before is not None:
            raise Conflict("delivered", f"event {cursor} has reached session {watcher} in {before[0]}")
    message, arrived = _told(db, watcher, wakeup)
    _DELIVER.run_many(
        db,
        [
            {"watcher": watcher, "relay": relay, "cursor": cursor, "message": message, "delivered_at": at}
            for relay, cursor in wakeup["events"]
        ],
    )
    return arrived


def _told(db: sqlite3.Connection, watcher: str, wakeup: Wakeup) -> tuple[str, dict[str, Any]]:
    """Store what tells it; gives the message's id, and what ``accept_message`` gave for a new one."""
    match wakeup:
        case {"extends": message, "text": text}:
            if not _EXTEND.run(db, message=message, session=watcher, text=text).rowcount:
                raise Conflict("read", f"message {message} does not wait in session {watcher} any more")
            return message, {}
        case {"message": new, "queue_limit": limit}:
            hand_over = wakeup.get("hand_over")
            return new["id"], accept_message(db, new, queue_limit=limit, hand_over=hand_over)
        case _:
            raise TypeError("a wake-up has a message, or extends one")


def _end(db: sqlite3.Connection, subscriptions: Sequence[str], reason: str, at: int) -> None:
    for each in subscriptions:
        _END.run(db, subscription=each, reason=reason, at=at)
        _FORGET_HELD.run(db, subscription=each)


def _number(db: sqlite3.Connection, counted: Statement, **values: Any) -> int:
    row = counted.row(db, **values)
    return int(row[0] or 0) if row else 0
