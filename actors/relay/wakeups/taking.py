"""Which events a subscription takes, and which of them are a watcher's own echo. Pure."""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from showcaller.actors.contract.events import EVENTS, EventName, heard_events

_OF_THE_LINK: Final = frozenset({"link_lost", "link_restored"})

Reply = Literal["not asked for", "awaited", "written", "received", "lost"]
"""What became of a turn's reply on its way to the watcher that had prompted it.

``awaited``: a call of it waits still; ``written``: it was the result of a call that was open, and nothing has
come of that turn since; ``received``: that turn made another call after it, or ended; ``lost``: the call was
gone, or a relay that could have known it.
"""
Echo = Literal["tell", "hold", "drop"]


class Happened(NamedTuple):
    """An event of the log of a relay, ``''`` for this one, with what subscriptions ask about it.

    ``session`` is '' where it is about none. An event that was found for one subscription (``all_idle``,
    ``stalled``, ``heartbeat``) names it in ``subscription``, the answer to a conversation's question that
    conversation in ``asker``.
    """

    cursor: int
    kind: str
    relay: str = ""
    session: str = ""
    title: str = ""
    text: str = ""
    subscription: str | None = None
    asker: str | None = None


class Watch(NamedTuple):
    """What a subscription watches, as it is stored.

    ``sessions`` is None for every session of the relay but the ``excluded``; ``events`` is None for the
    default of the version that runs. ``since`` is the last event that it has seen or that was before it.
    """

    id: str
    watcher: str
    relay: str = ""
    sessions: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()
    events: tuple[EventName, ...] | None = None
    once: bool = False
    matches: tuple[str, ...] = ()
    heartbeat: bool = False
    since: int = 0


class Taken(NamedTuple):
    """The events that a subscription takes, in order, and which of them ends it, if one does."""

    events: tuple[Happened, ...]
    ended_by: Happened | None = None


def taken(watch: Watch, events: Iterable[Happened]) -> Taken:
    """Give what a subscription takes of events in their order; one that is made for once ends with the first.

    A link that breaks or comes back ends no subscription: what is watched lies behind it.
    """
    found: list[Happened] = []
    for event in events:
        if not takes(watch, event):
            continue
        found.append(event)
        if watch.once and event.kind not in _OF_THE_LINK:
            return Taken(tuple(found), event)
    return Taken(tuple(found))


def takes(watch: Watch, event: Happened) -> bool:
    """Tell whether a subscription takes an event."""
    if event.relay != watch.relay or event.cursor <= watch.since:
        return False
    if event.kind not in heard_events(watch.events, heartbeat=watch.heartbeat):
        return False
    if event.asker is not None:  # it is told to who asked, with or without a subscription
        return False
    if event.subscription is not None and event.subscription != watch.id:
        return False
    if event.session and not watches(watch, event.session):
        return False
    return is_urgent(event.kind) or _matches(watch.matches, event)


def watches(watch: Watch, session: str) -> bool:
    """Tell whether a session is one that a subscription watches; the watcher's own never is."""
    if session == watch.watcher and not watch.relay:
        return False
    return session not in watch.excluded if watch.sessions is None else session in watch.sessions


def is_urgent(kind: str) -> bool:
    """Tell whether an event leaves at once; one that this version does not know does not."""
    return any(name == kind and event.urgent for name, event in EVENTS.items())


def _matches(texts: tuple[str, ...], event: Happened) -> bool:
    if not texts:
        return True
    where = (event.text.casefold(), event.title.casefold())
    return any(text.casefold() in each for text in texts for each in where)


def echo(kind: str, *, prompted_by_watcher: bool, reply: Reply, ends_once: bool) -> Echo:
    """Say what to do with an event that a watcher's subscriptions take.

    Only the end of a turn that the watcher had prompted itself can be its echo, and not if it ends a
    subscription made for once. While it may still get the reply, the event is held; when it certainly had
    it, the event is dropped; in doubt it is told, for a wake-up may repeat a reply but never goes missing.
    """
    if kind != "turn_end" or not prompted_by_watcher or ends_once:
        return "tell"
    if reply in {"awaited", "written"}:
        return "hold"
    return "drop" if reply == "received" else "tell"


def is_withdrawn(kind: str, reply: Reply, *, is_read: bool) -> bool:
    """Tell whether a line of a wake message goes again, because its watcher has the reply by another way."""
    return kind == "turn_end" and reply == "received" and not is_read
