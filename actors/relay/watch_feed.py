"""Who reads the log for all who watch, each event once, and has each watcher hear what it follows."""

import logging
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from showcaller.actors.relay.event_feed import EndFeed
from showcaller.actors.relay.listeners import tell_if_alive
from showcaller.actors.relay.log_reading import Bell, Committed, LogReading, PageRead
from showcaller.actors.relay.pauses import Pauses
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.replies import Reply, answer
from showcaller.actors.relay.watch_messages import (
    ChangeWatching,
    Follow,
    ForWatcher,
    Heard,
    WakeUpsChanged,
    WatcherOver,
)
from showcaller.actors.relay.watcher import Watcher
from showcaller.actors.relay.watching import Row
from showcaller.actors.runtime import Actor, ActorRef, Terminated, take_reply

logger = logging.getLogger("showcaller.relay")

REVIVE_SECONDS: Final = 10.0
"""Seconds until a watcher that has failed is started anew."""


class _Found(NamedTuple):
    """From the readers: the conversations that watch something, or what failed."""

    watchers: list[str] | None
    error: Exception | None


class _FindAgain(NamedTuple):
    """The pause after they could not be read is over."""


class _LookAgain(NamedTuple):
    """The pause after the log could not be read is over."""


class _Revive(NamedTuple):
    """Start a watcher anew that has failed."""

    watcher: str


class _Follower(NamedTuple):
    """Who hears of which sessions, None for all, of what is after ``since``."""

    ref: ActorRef[Any]
    life: int
    sessions: frozenset[str] | None
    since: int
    subscriptions: frozenset[str]


class WatchFeed(Actor):
    """Starts who watches, and tells each what the log has for it, in order and once in each of its lives.

    When one of them is to hear of earlier events than were read last, the log is read again from there, and
    the others hear nothing twice.
    """

    registered = False

    def __init__(self, ports: Ports, writer: ActorRef[Any], supervisor: ActorRef[Any], bell: Bell) -> None:
        super().__init__()
        self._ports = ports
        self._parts = (ports, writer, supervisor)
        self._bell = bell
        self._log = LogReading(ports.reader, lambda read: tell_if_alive(self.actor_ref, read))
        self._is_stale = False  # what is being read is not what comes next any more
        self._watchers: dict[str, ActorRef[Any]] = {}
        self._passed: dict[str, int] = {}
        self._expected: set[str] = set()  # who was found at the start, and has not said what it follows
        self._followers: dict[str, _Follower] = {}
        self._of_all: set[str] = set()
        self._of_session: dict[str, set[str]] = {}
        self._of_subscription: dict[str, str] = {}
        self._pauses = Pauses()
        self._ended: Exception | None = None

    def on_start(self) -> None:
        """Find who watches, in a relay that takes up what it finds."""
        if self._ports.takes_up:
            self._find()

    def on_stop(self) -> None:
        """Listen no more."""
        self._bell.leave(self.actor_ref)

    def on_receive(self, message: Any) -> None:
        """Take what watchers say, what is said of the log, and what is for one of them."""
        if isinstance(message, ForWatcher):
            self._pass_on(message, take_reply())
        elif isinstance(message, EndFeed):
            self._end(message.error)
        elif self._ended is None:
            self._take(message)

    def _take(self, message: Any) -> None:
        handle = _HANDLERS.get(type(message))
        if handle is None:
            super().on_receive(message)
        else:
            handle(self, message)

    def _changed(self, change: WakeUpsChanged) -> None:
        for ref in self._watchers.values():
            tell_if_alive(ref, change)

    # -- who watches -------------------------------------------------------------------------------

    def _find(self) -> None:
        ref = self.actor_ref
        self._ports.reader.read("watchers", {}, lambda found, error: tell_if_alive(ref, _Found(found, error)))

    def _found(self, found: _Found) -> None:
        if found.watchers is None:
            logger.warning("Who watches could not be read, and is read again: %s", found.error)
            self.actor_ref.tell_after(self._pauses.next(), _FindAgain())
            return
        self._pauses.over()
        self._expected = set(found.watchers) - self._followers.keys()
        for watcher in found.watchers:
            self._watcher(watcher)

    def _watcher(self, watcher: str) -> ActorRef[Any]:
        ref = self._watchers.get(watcher)
        if ref is None:
            ref = self._watchers[watcher] = Watcher.start(watcher, *self._parts, self.actor_ref)
            self.watch(ref)
        return ref

    def _pass_on(self, message: ForWatcher, reply: Reply) -> None:
        if self._ended is not None:
            answer(reply, self._ended)
            return
        ref = self._watcher(message.watcher)
        self._passed[message.watcher] = self._passed.get(message.watcher, 0) + 1
        told = message.message
        if isinstance(told, ChangeWatching):
            told = told._replace(told=self._told_to(message.watcher))
        if reply is None:
            tell_if_alive(ref, told)
        else:
            ref.forward(told, reply)

    def _told_to(self, watcher: str) -> int:
        """Give the event up to which a watcher was told all that it follows; 0 while it follows nothing."""
        follower = self._followers.get(watcher)
        return 0 if follower is None else max(follower.since, self._log.seen)

    def _over(self, over: WatcherOver) -> None:
        """Let a watcher end that has nothing to do, unless a message is on its way to it."""
        if self._watchers.get(over.watcher) is over.ref and self._passed.get(over.watcher, 0) == over.handled:
            self._forget(over.watcher)
            _ = over.ref.stop(block=False)

    def _fell(self, ended: Terminated) -> None:
        """Start a watcher anew that has failed: it goes on from what is stored."""
        fallen = [watcher for watcher, ref in self._watchers.items() if ref == ended.ref]
        for watcher in fallen:
            logger.error("The watcher of %s has failed, and is started anew: %s", watcher, ended.reason)
            self._forget(watcher)
            self.actor_ref.tell_after(REVIVE_SECONDS, _Revive(watcher))

    def _revive(self, fallen: _Revive) -> None:
        self._watcher(fallen.watcher)

    def _forget(self, watcher: str) -> None:
        self._unfollow(watcher)
        self._watchers.pop(watcher, None)
        self._passed.pop(watcher, None)
        self._expected.discard(watcher)
        if not self._followers:
            self._bell.leave(self.actor_ref)
        self._look()

    # -- who follows what --------------------------------------------------------------------------

    def _follow(self, wish: Follow) -> None:
        if self._watchers.get(wish.watcher) is not wish.ref:
            return  # of a life that has ended
        self._unfollow(wish.watcher)
        self._expected.discard(wish.watcher)
        if not self._followers:
            self._bell.listen(self.actor_ref)  # before the log is read: what comes after that is told
        since = self._log.seen if wish.since is None else wish.since
        self._read_from(since)
        self._followers[wish.watcher] = _Follower(
            wish.ref, wish.life, wish.sessions, since, wish.subscriptions
        )
        self._of_subscription |= dict.fromkeys(wish.subscriptions, wish.watcher)
        if wish.sessions is None:
            self._of_all.add(wish.watcher)
        for session in wish.sessions or ():
            self._of_session.setdefault(session, set()).add(wish.watcher)
        self._look()

    def _read_from(self, since: int) -> None:
        if not self._followers:
            self._is_stale = self._log.is_under_way
            self._log.seen = since
        elif since < self._log.seen:
            self._is_stale = self._log.is_under_way
            self._followers = {
                watcher: each._replace(since=max(each.since, self._log.seen))
                for watcher, each in self._followers.items()
            }
            self._log.seen = since

    def _unfollow(self, watcher: str) -> None:
        before = self._followers.pop(watcher, None)
        if before is None:
            return
        self._of_all.discard(watcher)
        for subscription in before.subscriptions:
            self._of_subscription.pop(subscription, None)
        for session in before.sessions or ():
            of_session = self._of_session[session]
            of_session.discard(watcher)
            if not of_session:
                del self._of_session[session]

    # -- the log -----------------------------------------------------------------------------------

    def _look(self) -> None:
        if self._followers and not self._expected and self._ended is None:
            self._log.look()

    def _has_read(self, read: PageRead) -> None:
        self._log.over()
        if self._is_stale:
            self._is_stale = False
            self._look()
            return
        if read.page is None:
            logger.warning("The log of events could not be read for who watches: %s", read.error)
            self.actor_ref.tell_after(self._pauses.next(), _LookAgain())
            return
        self._pauses.over()
        rows: list[Row] = read.page["events"]
        self._tell(rows)
        if self._log.took(read.page):
            self._look()

    def _tell(self, rows: list[Row]) -> None:
        heard: dict[str, list[Row]] = {}
        for row in rows:
            for watcher in self._who_hears(row):
                if row["cursor"] > self._followers[watcher].since:
                    heard.setdefault(watcher, []).append(row)
        for watcher, told in heard.items():
            follower = self._followers[watcher]
            tell_if_alive(follower.ref, Heard(told, follower.life))

    def _who_hears(self, row: Row) -> set[str]:
        session = row["session"]
        if "subscription" in row["detail"]:
            watcher = self._of_subscription.get(row["detail"]["subscription"])
            return set() if watcher is None else {watcher}
        hears = self._of_all | self._of_session.get(session, set())
        if row["kind"] != "archived":
            hears.discard(session)
        elif session in self._followers:
            hears.add(session)
        return hears

    def _end(self, error: Exception) -> None:
        self._ended = error
        self._bell.leave(self.actor_ref)
        watchers, self._watchers = self._watchers, {}
        for ref in watchers.values():
            _ = ref.stop(block=False)


_HANDLERS: Final[dict[type, Callable[[WatchFeed, Any], None]]] = {
    Follow: WatchFeed._follow,
    WatcherOver: WatchFeed._over,
    WakeUpsChanged: WatchFeed._changed,
    Committed: lambda feed, _: feed._look(),
    PageRead: WatchFeed._has_read,
    Terminated: WatchFeed._fell,
    _Found: WatchFeed._found,
    _FindAgain: lambda feed, _: feed._find(),
    _LookAgain: lambda feed, _: feed._look(),
    _Revive: WatchFeed._revive,
}
