"""When the events that a watcher's subscriptions took leave for its conversation, and which of them together.

Pure: a watcher's state is plain values, as the store has them, and the time is an argument (milliseconds,
UTC). Whoever carries it out calls ``release`` when it takes up a watcher and at each instant that
``next_due`` names, goes on with the watcher that this gives, and stores it with the message in one
transaction.

- A subscription lets an urgent event go at once, another when its digest is due outside of quiet hours.
- An event leaves with the first subscription that lets it go, and is gone from all of them.
- What is let go as it comes gathers until a window ends that the first of it opened. What a digest or quiet
  hours had held leaves when they end. Either takes along what has gathered, as an urgent event does.
- Beyond the hourly cap nothing leaves but what is urgent, until ten minutes after the wake-up before.
- Where quiet hours would be on at that time, an event waits for their end; a window ends before they begin.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from showcaller.actors.contract.arguments import QuietHours
from showcaller.actors.contract.limits import WAKEUP_DIGEST_MINUTES
from showcaller.actors.relay.wakeups.quiet_hours import is_quiet, next_quiet, quiet_until

SECOND: Final = 1000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
# A timer is late by less; who comes later was not there, and finds quiet hours as they are now.
_ON_TIME: Final = MINUTE


class Pace(NamedTuple):
    """The settings: seconds of the window (``coalesce_seconds``), and ``wakeups_per_hour``, 0 for no cap."""

    coalesce_seconds: int
    wakeups_per_hour: int


class Terms(NamedTuple):
    """What a subscription says of when its events leave.

    ``next_digest_at`` is the earliest time of its next digest: so many minutes after it was made, and then
    after each digest.
    """

    digest_minutes: int | None = None
    quiet: QuietHours | None = None
    next_digest_at: int | None = None


class Key(NamedTuple):
    """An event of a log: of this relay's (``''``) or of that of a pairing, by its cursor."""

    relay: str
    cursor: int


class Hold(NamedTuple):
    """An event that a subscription took and that has not left.

    The subscription holds it until ``due_at``; None: it has let it go as it came, and the event gathers.
    """

    subscription: str
    event: Key
    due_at: int | None = None


class Watcher(NamedTuple):
    """What waits for a watching conversation.

    ``terms`` are those of its subscriptions by their ids, of one that has ended as long as it holds
    something. ``urgent`` are the events that are about to leave, ``wakeups`` the times at which it was woken,
    ``window_ends_at`` when the open window ends, ``digest_at`` when a digest comes because of the cap.
    """

    terms: Mapping[str, Terms] = MappingProxyType({})
    holds: tuple[Hold, ...] = ()
    urgent: tuple[Key, ...] = ()
    wakeups: tuple[int, ...] = ()
    window_ends_at: int | None = None
    digest_at: int | None = None


class Wakeup(NamedTuple):
    """What leaves in one message: ``urgent`` and ``rest``, each in the order of the log.

    Of the rest, ``quiet`` were held by quiet hours, by the subscription whose hours they were; ``digests``
    are the subscriptions whose digest this is, and ``capped`` says that it is the hourly cap's.
    """

    urgent: tuple[Key, ...]
    rest: tuple[Key, ...]
    quiet: Mapping[Key, str] = MappingProxyType({})
    digests: tuple[str, ...] = ()
    capped: bool = False

    @property
    def events(self) -> tuple[Key, ...]:
        """All events, as they come in the message."""
        return (*self.urgent, *self.rest)


class Released(NamedTuple):
    """A watcher after ``release``, and what leaves, if anything."""

    watcher: Watcher
    wakeup: Wakeup | None


class Held(NamedTuple):
    """How many events a subscription holds, and when the first of them leaves; None when it holds none."""

    number: int
    next_at: int | None


def let_go_at(terms: Terms, at: int) -> int:
    """Say when a subscription lets go of an event that is not urgent and comes at that instant."""
    earliest = at
    if terms.digest_minutes is not None and terms.next_digest_at is not None:
        # A clock that was set back makes no digest later than its minutes from now.
        earliest = max(at, min(terms.next_digest_at, at + terms.digest_minutes * MINUTE))
    ends = None if terms.quiet is None else quiet_until(terms.quiet, earliest)
    return earliest if ends is None else ends


def take(watcher: Watcher, event: Key, by: Sequence[str], now: int, pace: Pace, *, urgent: bool) -> Watcher:
    """Give a watcher after an event has come that these subscriptions take.

    An urgent one may come for the conversation itself, taken by none. What comes twice changes nothing.
    """
    if event in watcher.urgent or any(hold.event == event for hold in watcher.holds):
        return watcher
    if urgent:
        return watcher._replace(urgent=(*watcher.urgent, event))
    taken: list[Hold] = []
    for name in by:
        due = let_go_at(watcher.terms[name], now)
        taken.append(Hold(name, event, due if due > now else None))
    watcher = watcher._replace(holds=(*watcher.holds, *taken))
    free = [hold.subscription for hold in taken if hold.due_at is None]
    if not free or watcher.digest_at is not None:
        return watcher
    ends = max(_window_end(watcher.terms[name], now, pace) for name in free)
    return watcher._replace(window_ends_at=_earlier(watcher.window_ends_at, ends))


def _window_end(terms: Terms, now: int, pace: Pace) -> int:
    """Give the end of a window that opens now: before quiet hours begin, in which nothing leaves."""
    ends = now + pace.coalesce_seconds * SECOND
    begins = None if terms.quiet is None else next_quiet(terms.quiet, now)
    return ends if begins is None else max(now, min(ends, begins - SECOND))


def next_due(watcher: Watcher, now: int) -> int | None:
    """Give the next instant at which ``release`` is to be called, not before now; None when nothing waits."""
    planned = now if watcher.urgent else _planned(watcher, now)
    return None if planned is None else max(now, planned)


def release(watcher: Watcher, now: int, pace: Pace, *, extends: bool = False) -> Released:
    """Decide what leaves now, if anything.

    Args:
        watcher: what waits.
        now: the time.
        pace: the settings in force.
        extends: the message of the wake-up before is still unread, so that it is extended by what leaves: no
            further turn comes of it, and neither does the cap hold it nor is it counted.

    """
    watcher = _in_reach(watcher, now, pace)
    watcher = watcher._replace(wakeups=tuple(each for each in watcher.wakeups if now - HOUR < each <= now))
    capped = 0 < pace.wakeups_per_hour <= len(watcher.wakeups) and not extends
    if not watcher.urgent:
        planned = _planned(watcher, now)
        if planned is None or planned > now:
            return Released(watcher, None)
        if capped and watcher.digest_at is None:
            digest_at = watcher.wakeups[-1] + WAKEUP_DIGEST_MINUTES * MINUTE
            watcher = watcher._replace(digest_at=digest_at, window_ends_at=None)
            if digest_at > now:
                return Released(watcher, None)
        watcher = _held_by_quiet_hours(watcher, planned if now - planned < _ON_TIME else now)
    return _leave(watcher, now, extends=extends)


def held_by(watcher: Watcher, subscription: str) -> Held:
    """Tell what a subscription holds back, and when the first of it leaves, for all that is known by now."""
    own = {
        hold.event for hold in watcher.holds if hold.subscription == subscription and hold.due_at is not None
    }
    times = [time for event, time in _leaving_times(watcher).items() if event in own]
    known = [watcher.window_ends_at if time is None else time for time in times]
    first = min((time for time in known if time is not None), default=None)
    if own and watcher.digest_at is not None:
        first = watcher.digest_at if first is None else max(first, watcher.digest_at)
    return Held(len(own), first)


def without(watcher: Watcher, subscription: str) -> Watcher:
    """Give a watcher whose subscription has gone with what it held."""
    terms = {name: terms for name, terms in watcher.terms.items() if name != subscription}
    holds = tuple(hold for hold in watcher.holds if hold.subscription != subscription)
    gathers = any(hold.due_at is None for hold in holds)
    return watcher._replace(
        terms=terms,
        holds=holds,
        window_ends_at=watcher.window_ends_at if gathers else None,
        digest_at=watcher.digest_at if holds else None,
    )


def _in_reach(watcher: Watcher, now: int, pace: Pace) -> Watcher:
    """Give a watcher whose times are none that only a clock which has since been set back can have made."""
    window, digest = watcher.window_ends_at, watcher.digest_at
    latest = {name: let_go_at(terms, now) for name, terms in watcher.terms.items()}
    return watcher._replace(
        window_ends_at=None if window is None else min(window, now + pace.coalesce_seconds * SECOND),
        digest_at=None if digest is None else min(digest, now + WAKEUP_DIGEST_MINUTES * MINUTE),
        holds=tuple(
            hold
            if hold.due_at is None or hold.due_at <= now
            else hold._replace(due_at=min(hold.due_at, latest[hold.subscription]))
            for hold in watcher.holds
        ),
    )


def _leaving_times(watcher: Watcher) -> dict[Key, int | None]:
    """Give the time at which the first subscription lets go of each event; None where one has."""
    times: dict[Key, int | None] = {}
    for hold in watcher.holds:
        known = times.get(hold.event, hold.due_at)
        times[hold.event] = None if known is None or hold.due_at is None else min(known, hold.due_at)
    return times


def _planned(watcher: Watcher, now: int) -> int | None:
    """Give the time at which the next message was to leave; now where that is not known any more."""
    if watcher.digest_at is not None:
        return watcher.digest_at
    times = _leaving_times(watcher).values()
    planned = watcher.window_ends_at
    for time in times:
        if time is not None:
            planned = _earlier(planned, time)
    if planned is None and None in times:
        return now
    return planned


def _earlier(one: int | None, other: int) -> int:
    return other if one is None else min(one, other)


def _held_by_quiet_hours(watcher: Watcher, at: int) -> Watcher:
    """Have each subscription hold, until its quiet hours end, what it would let go while they are on."""
    ends = {
        name: None if terms.quiet is None else quiet_until(terms.quiet, at)
        for name, terms in watcher.terms.items()
    }
    return watcher._replace(
        holds=tuple(
            hold._replace(due_at=end)
            if _is_due(hold.due_at, at) and (end := ends[hold.subscription]) is not None
            else hold
            for hold in watcher.holds
        )
    )


def _is_due(time: int | None, at: int) -> bool:
    return time is None or time <= at


def _leave(watcher: Watcher, now: int, *, extends: bool) -> Released:
    times = _leaving_times(watcher)
    rest = sorted(event for event, time in times.items() if _is_due(time, now))
    if not rest and not watcher.urgent:
        return Released(watcher._replace(window_ends_at=None, digest_at=None), None)
    gone = frozenset(rest)
    let_go = [hold for hold in watcher.holds if hold.event in gone and _is_due(hold.due_at, now)]
    quiet: dict[Key, str] = {}
    for hold in let_go:
        if _held_for_quiet(hold, watcher.terms[hold.subscription]):
            quiet.setdefault(hold.event, hold.subscription)
    digests = sorted({hold.subscription for hold in let_go if _has_digest(watcher.terms[hold.subscription])})
    wakeup = Wakeup(
        urgent=tuple(sorted(watcher.urgent)),
        rest=tuple(rest),
        quiet=MappingProxyType(quiet),
        digests=tuple(digests),
        capped=watcher.digest_at is not None,
    )
    left = watcher._replace(
        terms={
            name: _after_digest(terms, now) if name in digests else terms
            for name, terms in watcher.terms.items()
        },
        holds=tuple(hold for hold in watcher.holds if hold.event not in gone),
        urgent=(),
        wakeups=watcher.wakeups if extends else (*watcher.wakeups, now),
        window_ends_at=None,
        digest_at=None,
    )
    return Released(left, wakeup)


def _has_digest(terms: Terms) -> bool:
    return terms.digest_minutes is not None


def _after_digest(terms: Terms, now: int) -> Terms:
    assert terms.digest_minutes is not None
    return terms._replace(next_digest_at=now + terms.digest_minutes * MINUTE)


def _held_for_quiet(hold: Hold, terms: Terms) -> bool:
    """Tell whether what held an event to its time was the subscription's quiet hours, which ended then."""
    if hold.due_at is None or terms.quiet is None:
        return False
    return is_quiet(terms.quiet, hold.due_at - 1) and not is_quiet(terms.quiet, hold.due_at)
