"""``session_monitor`` and ``session_events``: what happens in sessions, for who watches from outside."""

from typing import Any, NamedTuple

from showcaller.actors.contract.arguments import ALL
from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.limits import EVENTS_PER_PAGE, WATCHED_NAMED
from showcaller.actors.contract.outside import Events, EventsResult, Monitor, MonitorResult
from showcaller.actors.contract.summaries import counted, summary
from showcaller.actors.relay import watching
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.targets import find_session, refuse_deleted
from showcaller.actors.relay.event_feed import AwaitEvent
from showcaller.actors.runtime import Timeout

NOTHING_COMES = (
    "This relay was opened for reading only and hears of nothing new: ask the one that runs, or do not wait."
)


class _Found(NamedTuple):
    """What fired in a stretch of the log; ``next`` is the cursor after it."""

    rows: list[watching.Row]
    next: int
    gap: int | None
    more: bool

    @property
    def is_news(self) -> bool:
        return bool(self.rows) or self.gap is not None


async def monitor(context: CallContext, asked: Monitor) -> MonitorResult:
    """Wait until something fires in the watched sessions, or the time is up; say what did and what is due."""
    clock = context.ports.clock
    until = clock.monotonic() + asked.timeout
    named = None if asked.sessions == ALL else [await find_session(context, each) for each in asked.sessions]
    standing = await _standing(context, named)
    already = _Already()
    since = asked.since
    if since is None:
        since = standing["cursor"]
        if named is not None:
            already = _already(standing["sessions"], asked)
    found = await _log(context, asked, named, since)
    timed_out = False
    while not found.is_news and not any(already):
        timed_out = not await _wakened(context, asked, named, found.next, until - clock.monotonic())
        if timed_out:
            break
        found = await _log(context, asked, named, found.next)
    return _monitored(context, await _standing(context, named), found, already, timed_out=timed_out)


class _Already(NamedTuple):
    """Sessions in which what is waited for is so already."""

    idle: tuple[Row, ...] = ()
    waiting: tuple[Row, ...] = ()


def _already(sessions: list[Row], asked: Monitor) -> _Already:
    until = set(asked.until)
    idle = [row for row in sessions if {"turn-end", "any"} & until and watching.is_idle(row)]
    waiting = [row for row in sessions if {"awaiting-input", "any"} & until and row["waits_on"]]
    return _Already(tuple(idle), tuple(waiting))


async def _standing(context: CallContext, named: list[str] | None) -> dict[str, Any]:
    """Give how the watched sessions are, and the newest cursor; raises ``Refusal`` for a deleted one."""
    standing: dict[str, Any] = await context.read("watched_sessions", sessions=named, limit=WATCHED_NAMED)
    if named is not None:
        for row in standing["sessions"]:
            refuse_deleted(row)
    return {**standing, "sessions": [context.as_it_is(row) for row in standing["sessions"]]}


async def _log(context: CallContext, asked: Monitor, named: list[str] | None, since: int) -> _Found:
    """Read the log from a cursor to its end, or as far as one answer goes, for what fires."""
    sessions = None if named is None else frozenset(named)
    rows: list[watching.Row] = []
    gap: int | None = None
    while True:
        page = await _page(context, since, EVENTS_PER_PAGE)
        gap = page["gap"] if gap is None else gap
        rows += watching.fired(page["events"], sessions, asked.until)
        since = page["next"]
        if len(rows) > EVENTS_PER_PAGE:
            return _Found(rows[:EVENTS_PER_PAGE], rows[EVENTS_PER_PAGE - 1]["cursor"], gap, more=True)
        if len(page["events"]) < EVENTS_PER_PAGE:
            return _Found(rows, since, gap, more=False)


async def _page(context: CallContext, since: int, limit: int) -> dict[str, Any]:
    page: dict[str, Any] = await context.read("told_events", since=since, limit=limit)
    if since > page["newest"]:
        raise invalid(
            f"since {since} is ahead of the log, whose newest event is {page['newest']}: it is no cursor of "
            "this relay. Begin with one that it gave, or with 0.",
            newest=page["newest"],
        )
    return page


async def _wakened(
    context: CallContext, asked: Monitor, named: list[str] | None, since: int, left: float
) -> bool:
    """Wait for an event that fires; False when the time is up first."""
    if left <= 0:
        return False
    if context.ports.writer is None:
        raise Refusal(Code.UNAVAILABLE, NOTHING_COMES)
    sessions = None if named is None else frozenset(named)
    try:
        await context.ask(AwaitEvent(since, sessions, frozenset(asked.until)), timeout=left)
    except Timeout:
        return False
    return True


def _monitored(
    context: CallContext, standing: dict[str, Any], found: _Found, already: _Already, *, timed_out: bool
) -> MonitorResult:
    pending = [row for row in standing["sessions"] if watching.is_pending(row)]
    if len(standing["sessions"]) > WATCHED_NAMED:
        pending = pending[:WATCHED_NAMED]
        context.notes.append(f"Only {WATCHED_NAMED:,} of the sessions at work are listed.")
    told = f"{counted(len(found.rows), 'event')}, {counted(len(pending), 'session')} pending"
    return MonitorResult(
        relay=context.relay,
        summary=summary("session_monitor", told),
        fired=watching.event_views(found.rows),
        pending=watching.watched_views(pending),
        already_idle=watching.watched_views(already.idle),
        already_waiting=watching.watched_views(already.waiting),
        next=found.next,
        gap=found.gap,
        more=found.more,
        timed_out=timed_out,
    )


async def events(context: CallContext, asked: Events) -> EventsResult:
    """Give a page of the log, without waiting."""
    page = await _page(context, asked.since, asked.limit)
    return EventsResult(
        relay=context.relay,
        summary=summary("session_events", counted(len(page["events"]), "event")),
        events=watching.event_views(page["events"]),
        next=page["next"],
        gap=page["gap"],
        more=len(page["events"]) == asked.limit and page["next"] < page["newest"],
    )
