"""``subscribe``, ``unsubscribe`` and ``list_subscriptions``."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from showcaller.actors.contract import calls
from showcaller.actors.contract.arguments import ALL
from showcaller.actors.contract.calls.watching import (
    ActiveSubscription,
    EndedSubscription,
    ListSubscriptionsResult,
    SubscribeResult,
    SubscriptionView,
    UnsubscribeResult,
    WatchedSession,
)
from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.events import EVENTS, heard_events
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.limits import (
    ENDED_LISTED_MINUTES,
    SESSIONS_NAMED,
    SUBSCRIPTIONS_HELD,
)
from showcaller.actors.contract.summaries import counted, summary
from showcaller.actors.contract.views import SessionTitle
from showcaller.actors.relay import views
from showcaller.actors.relay.calls import repeats
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.found import Found
from showcaller.actors.relay.calls.session_settings import hops_of
from showcaller.actors.relay.calls.targets import find_session, refuse_archived, refuse_deleted
from showcaller.actors.relay.session_answers import write_id
from showcaller.actors.relay.wakeups.keeping import kept, quiet_hours_of
from showcaller.actors.relay.wakeups.release import MINUTE, Held, held_by
from showcaller.actors.relay.watch_messages import ChangeWatching, ForWatcher
from showcaller.actors.relay.watching import is_pending

# -- before it is asked for --------------------------------------------------------------------------


WATCHERS_LISTED: Final = 100
"""Conversations of which the owner is shown the subscriptions at once."""
Listed = ActiveSubscription | EndedSubscription
Watching = calls.Subscribe | calls.Unsubscribe | calls.ListSubscriptions


async def find(context: CallContext, call: Watching) -> Found:
    """Find what a call about subscriptions is about; raises ``Refusal``."""
    if isinstance(call, calls.Subscribe):
        return await _find_watched(context, call)
    if isinstance(call, calls.ListSubscriptions) and call.watcher is not None:
        return Found(await find_session(context, call.watcher))
    if context.caller.agent is None:
        return await _owners(context, call)
    return Found((await _own(context, call.nothing))["id"])


async def _owners(context: CallContext, call: calls.Unsubscribe | calls.ListSubscriptions) -> Found:
    """Find whose subscription the owner ends; of all conversations theirs are listed."""
    if isinstance(call, calls.ListSubscriptions):
        return Found()
    watcher = await context.read("watcher_of", subscription=call.subscription_id)
    if watcher is None:
        raise Refusal(
            Code.NOT_FOUND,
            f"No conversation holds a subscription {quote_foreign(call.subscription_id)}: list_subscriptions "
            f"names those there are. {call.nothing}".strip(),
            missing=[call.subscription_id],
        )
    return Found(watcher)


async def _find_watched(context: CallContext, call: calls.Subscribe) -> Found:
    """Find the sessions that a call names, all of them; raises ``Refusal``, also for who may not watch."""
    own = await _own(context, call.nothing)
    entry = context.ports.providers.find(own["provider"])
    if entry is not None and entry.runs_lines:
        raise invalid(
            "Your session's prompts are run as command lines, and so would be what wakes it: it cannot hold "
            f"subscriptions. {call.nothing}"
        )
    held = len(await _open_of(context, own["id"]))
    if held >= SUBSCRIPTIONS_HELD:
        raise Refusal(
            Code.SUBSCRIPTION_LIMIT,
            f"This conversation holds {held} subscriptions, which is as many as it may: end one of them with "
            f"unsubscribe first. {call.nothing}",
        )
    named = () if call.sessions == ALL else call.sessions
    watched = await _sessions(context, named, call.nothing)
    left_out = await _sessions(context, call.exclude or (), call.nothing, may_be_archived=True)
    others = tuple(row for row in watched if row["id"] != own["id"])
    if watched and not others:
        raise invalid(f"A conversation never watches itself: name other sessions. {call.nothing}")
    if len(others) < len(watched):
        context.notes.append("Your own session is not watched: no conversation watches itself.")
    return Found(own["id"], watched=others, left_out=left_out)


async def _open_of(context: CallContext, watcher: str) -> list[str]:
    """Give the open subscriptions of a conversation, by their ids."""
    record = await context.read("watching", watcher=watcher)
    return [row["id"] for row in record["subscriptions"] if row["ended_at"] is None]


async def _sessions(
    context: CallContext, names: Iterable[str], nothing: str, *, may_be_archived: bool = False
) -> tuple[Row, ...]:
    """Give the session of each name, once each; raises one ``Refusal`` that lists all that are missing."""
    found: dict[str, Row] = {}
    missing: list[str] = []
    why = Refusal(Code.NOT_FOUND, nothing)
    for name in names:
        try:
            row = await context.read("load_session", session=await find_session(context, name))
            refuse_deleted(row)
            if not may_be_archived:
                refuse_archived(row, nothing)
        except Refusal as refusal:
            if "missing" not in refusal.fields:
                raise
            missing.append(name)
            why = refusal if refusal.error.endswith(nothing) else _with(refusal, nothing)
        else:
            found[row["id"]] = row
    if len(missing) == 1:
        raise why
    if missing:
        raise Refusal(
            Code.NOT_FOUND, f"There are no such sessions: {', '.join(missing)}. {nothing}", missing=missing
        )
    return tuple(found.values())


def _with(refusal: Refusal, nothing: str) -> Refusal:
    return Refusal(refusal.code, f"{refusal.error} {nothing}", **refusal.fields)


async def _own(context: CallContext, nothing: str) -> Row:
    """Give the row of the calling conversation; raises ``Refusal`` for the owner, who has none."""
    own = await context.own_row()
    if own is None:
        raise invalid(
            "This call comes from no conversation: subscriptions wake the conversation whose agent makes "
            f"them. {nothing}".strip()
        )
    return own


# -- subscribe ---------------------------------------------------------------------------------------


async def subscribe(context: CallContext, call: calls.Subscribe, found: Found) -> SubscribeResult:
    """Have a subscription stored, and say how what it watches is by then."""
    own = await _own(context, call.nothing)
    now = context.ports.clock.wall()
    name = context.ports.new_id("sub_")
    command: dict[str, Any] = {
        "subscription": _row(call, name, own["id"], await hops_of(context, own), now),
        "at": now,
        "limit": SUBSCRIPTIONS_HELD,
        "sessions": [row["id"] for row in found.watched],
        "excluded": [row["id"] for row in found.left_out],
    }
    named = repeats.write_id(context, call)
    if named is not None:
        command["call"] = write_id(named)
    change = ForWatcher(own["id"], ChangeWatching("subscribe", command))
    stored: Row = await context.ask(change)
    first: Row | None = stored.get("duplicate_result")
    return await subscribed(context, call, stored if first is None else first)


def _row(call: calls.Subscribe, name: str, watcher: str, hops: int, now: int) -> Row:
    quiet, digest = call.quiet_hours, call.digest_minutes
    return {
        "id": name,
        "watcher": watcher,
        "watches_all": call.sessions == ALL,
        "once": call.once,
        "stalled_minutes": call.stalled_minutes,
        "hops": hops,
        "events": None if call.events is None else json.dumps(call.events),
        "matches": None if call.match is None else json.dumps(call.match, ensure_ascii=False),
        "heartbeat_minutes": call.heartbeat_minutes,
        "digest_minutes": digest,
        "quiet_from": None if quiet is None else quiet.start,
        "quiet_to": None if quiet is None else quiet.end,
        "quiet_tz": None if quiet is None else quiet.tz,
        "next_digest_at": None if digest is None else now + digest * MINUTE,
    }


async def subscribed(context: CallContext, call: calls.Subscribe, stored: Row) -> SubscribeResult:
    """Give what a caller reads of a subscription of its conversation; ``stored`` is what the store gave."""
    name: str = stored["subscription"]
    own = await _own(context, call.nothing)
    rows = await context.read("subscriptions", watcher=own["id"], ended_since=0)
    row = next((each for each in rows if each["id"] == name), None)
    if row is None:
        raise Refusal(Code.NOT_FOUND, f"The subscription {name} has ended, more than an hour ago.")
    watched = await _standing(context, row)
    idle = sum(1 for session in watched if session.already_idle)
    told = f"{_watches(row)}; {counted(idle, 'session')} idle already ({name})"
    return SubscribeResult(
        relay=context.relay,
        summary=summary(call.action, told, relay=context.relay),
        subscription_id=name,
        subscription=SubscriptionView(**_options(row)),
        sessions=watched,
    )


async def _standing(context: CallContext, row: Row) -> tuple[WatchedSession, ...]:
    """Say how each watched session is; of all sessions, those of which something was heard last."""
    ids = [session["id"] for session in row["sessions"]]
    if row["watches_all"]:
        page = await context.read("list_sessions", scope="recent", limit=SESSIONS_NAMED)
        left_out = {row["watcher"], *(session["id"] for session in row["excluded"])}
        ids = [session["id"] for session in page["sessions"] if session["id"] not in left_out]
        if page["next"] is not None:
            context.notes.append(
                f"Only {len(ids)} of the watched sessions are listed, newest activity first."
            )
    found = await context.read("watched_sessions", sessions=ids)
    return tuple(
        WatchedSession(
            id=session["id"],
            title=session["title"],
            state=views.state_of(session),
            last_turn=views.last_turn_of(session["last_turn"]),
            already_idle=not is_pending(session),
        )
        for session in found["sessions"]
    )


def _watches(row: Row) -> str:
    if not row["watches_all"]:
        return counted(len(row["sessions"]), "session")
    left_out = len(row["excluded"])
    return f"every session but {counted(left_out, 'session')}" if left_out else "every session"


def _options(row: Row) -> dict[str, Any]:
    """Give what a subscription says, as the fields of its view."""
    heard = heard_events(row["events"], heartbeat=row["heartbeat_minutes"] is not None)
    sessions = tuple(SessionTitle(id=each["id"], title=each["title"]) for each in row["sessions"])
    return {
        "id": row["id"],
        "sessions": "all" if row["watches_all"] else sessions,
        "events": tuple(name for name in EVENTS if name in heard),
        "once": bool(row["once"]),
        "match": None if row["matches"] is None else tuple(row["matches"]),
        "stalled_minutes": row["stalled_minutes"],
        "heartbeat_minutes": row["heartbeat_minutes"],
        "digest_minutes": row["digest_minutes"],
        "quiet_hours": quiet_hours_of(row),
        "exclude": tuple(each["id"] for each in row["excluded"]) or None,
    }


# -- unsubscribe -------------------------------------------------------------------------------------


async def unsubscribe(context: CallContext, call: calls.Unsubscribe, found: Found) -> UnsubscribeResult:
    """Have subscriptions of the calling conversation ended."""
    is_owner = context.caller.agent is None
    one: str | None = call.subscription_id
    if not is_owner:
        one = None if one == "all" else await _find(context, call, found.session)
    command = {
        "watcher": found.session,
        "reason": "by_owner" if is_owner else "unsubscribed",
        "at": context.ports.clock.wall(),
        "subscription": one,
    }
    stored: Row = await context.ask(ForWatcher(found.session, ChangeWatching("unsubscribe", command)))
    ended: Sequence[str] = stored["ended"]
    return UnsubscribeResult(
        relay=context.relay,
        summary=summary(call.action, f"{counted(len(ended), 'subscription')} ended", relay=context.relay),
        unsubscribed=tuple(ended),
    )


async def _find(context: CallContext, call: calls.Unsubscribe, watcher: str) -> str:
    """Give the open subscription that a call names; raises ``Refusal``."""
    there = await _open_of(context, watcher)
    if call.subscription_id in there:
        return call.subscription_id
    known = f"it has {', '.join(there)}" if there else "it has none"
    raise Refusal(
        Code.NOT_FOUND,
        f"This conversation has no subscription of the name that was given; {known}. {call.nothing}".strip(),
        missing=[call.subscription_id],
    )


# -- list_subscriptions ------------------------------------------------------------------------------


async def list_subscriptions(
    context: CallContext, call: calls.ListSubscriptions, found: Found
) -> ListSubscriptionsResult:
    """List the subscriptions of a conversation, or of all for their owner, with what each holds."""
    if found.session:
        shown = await _of_watcher(context, found.session)
    else:
        watchers: list[str] = await context.read("watchers")
        if len(watchers) > WATCHERS_LISTED:
            context.notes.append(f"Only {WATCHERS_LISTED} of {len(watchers):,} conversations are listed.")
        shown = []
        for watcher in watchers[:WATCHERS_LISTED]:
            row = await context.read("load_session", session=watcher)
            shown += await _of_watcher(context, watcher, SessionTitle(id=watcher, title=row["title"]))
    active = sum(1 for each in shown if isinstance(each, ActiveSubscription))
    told = f"{counted(active, 'subscription')}, {len(shown) - active} ended"
    return ListSubscriptionsResult(
        relay=context.relay,
        summary=summary(call.action, told, relay=context.relay),
        subscriptions=tuple(shown),
    )


async def _of_watcher(context: CallContext, session: str, named: SessionTitle | None = None) -> list[Listed]:
    since = context.ports.clock.wall() - ENDED_LISTED_MINUTES * MINUTE
    rows = await context.read("subscriptions", watcher=session, ended_since=since)
    watcher = kept(await context.read("watching", watcher=session)).watcher
    shown = [_listed(row, held_by(watcher, row["id"])) for row in rows]
    return [each.model_copy(update={"watcher": named}) for each in shown]


def _listed(row: Row, held: Held) -> Listed:
    if row["ended_at"] is None:
        return ActiveSubscription(
            **_options(row), held_count=held.number, next_delivery_at=held.next_at if held.number else None
        )
    return EndedSubscription(
        **_options(row),
        ended_at=row["ended_at"],
        end_reason=row["end_reason"],
        held_count=held.number or None,
        next_delivery_at=held.next_at if held.number else None,
    )
