"""A conversation that watches: what its subscriptions take is stored, held, and told to it in time."""

import logging
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.limits import SESSIONS_NAMED
from showcaller.actors.relay.answers import read, written
from showcaller.actors.relay.messages import Accepted, Prompt, ToSession
from showcaller.actors.relay.pauses import Pauses
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import WatcherBehind, refusal_of
from showcaller.actors.relay.wakeups.keeping import Kept, Leaving, changes, kept, leaving, seen
from showcaller.actors.relay.wakeups.release import Pace
from showcaller.actors.relay.wakeups.stalls import heartbeat
from showcaller.actors.relay.watch_messages import (
    ChangeWatching,
    Follow,
    Heard,
    WakeUp,
    WakeUpsChanged,
    WatcherOver,
)
from showcaller.actors.relay.watching import Row
from showcaller.actors.runtime import Actor, ActorRef
from showcaller.store.batch import Answer
from showcaller.store.errors import StoreError

logger = logging.getLogger("showcaller.relay")

BEGINNINGS: Final = frozenset({"turn_started", "task_started"})
"""The events with which something runs that did not before."""


class _TakeUp(NamedTuple):
    """Go on from what is stored."""


class _Due(NamedTuple):
    """Something may leave now."""


class _Unread(NamedTuple):
    """The message of the last wake-up, which waited when it was last heard of."""

    message: str
    text: str


class Watcher(Actor):
    """Does one thing after the other: what it knows is what the store has, or it is read anew.

    What it hears is stored with what that makes leave, in one transaction; a wake-up goes through the session
    that it wakes, which has it stored with the beginning of its turn.
    """

    registered = False

    def __init__(
        self,
        session: str,
        ports: Ports,
        writer: ActorRef[Any],
        supervisor: ActorRef[Any],
        feed: ActorRef[Any],
    ) -> None:
        super().__init__()
        self._session = session
        self._ports = ports
        self._writer = writer
        self._supervisor = supervisor
        self._feed = feed
        self._kept: Kept | None = None
        self._unread: _Unread | None = None
        self._life = 0
        self._handled = 0
        self._heartbeats: dict[str, int] = {}  # the minutes of each subscription that wants some
        self._beats_at: dict[str, int | None] = {}
        self._timer: Any = None
        self._pauses = Pauses()

    def on_start(self) -> None:
        """Take up what is stored."""
        self.actor_ref.tell(_TakeUp())

    async def on_receive(self, message: Any) -> Any:
        """Take what the feed tells, a change of what is watched, or that something is due."""
        if isinstance(message, ChangeWatching):
            self._handled += 1
            return await self._change(message)
        try:
            await self._go_on(message)
        except (Refusal, StoreError) as error:
            self._begin_anew(error)
        self._rest()
        return None

    async def _go_on(self, message: Any) -> None:
        if isinstance(message, _TakeUp):
            if self._kept is None:
                await self._take_up()
        elif self._kept is None:
            return  # it is read anew after a pause, and what is told here is told again then
        elif isinstance(message, _Due | WakeUpsChanged):
            await self._advance(self._kept, ())
            await self._beat(self._due_beats())
        elif isinstance(message, Heard):
            if message.life == self._life:
                await self._hear(self._kept, message.rows)
        else:
            super().on_receive(message)

    async def _hear(self, known: Kept, rows: Sequence[Row]) -> None:
        await self._advance(known, rows)
        if any(row["kind"] in BEGINNINGS for row in rows):
            await self._beat([name for name in self._heartbeats if self._beats_at.get(name) is None])
        if any(row["kind"] == "archived" and row["session"] == self._session for row in rows):
            self._kept = None
            await self._take_up()

    async def _change(self, change: ChangeWatching) -> Any:
        """Have a change stored; raises its refusal. What was heard before is not heard again."""
        answer: Answer = await written(self._writer, change.command, **change.arguments)
        refusal = refusal_of(answer)
        if refusal is not None:
            self._rest()
            raise refusal
        told = 0 if self._kept is None else change.told
        before, self._kept = self._kept, None
        try:
            await self._take_up(before, told)
        except (Refusal, StoreError) as error:  # the change is stored all the same
            self._begin_anew(error)
        self._rest()
        return answer.value

    # -- what is known -----------------------------------------------------------------------------

    async def _take_up(self, before: Kept | None = None, told: int = 0) -> None:
        """Read what is stored, and have told what comes after that.

        Of what was watched ``before`` all was heard up to the event ``told``.
        """
        record = await read(self._ports.reader, "watching", watcher=self._session)
        known = self._kept = kept(record)
        unread = record["unread"]
        self._unread = None if unread is None else _Unread(unread["id"], unread["text"])
        self._pauses.over()
        self._life += 1
        heard = frozenset[str]() if before is None else before.watches.keys()
        places = [max(watch.since, told if name in heard else 0) for name, watch in known.watches.items()]
        sessions = known.followed
        since = min(places, default=None)
        named = frozenset(known.watches)
        self._feed.tell(Follow(self._session, self.actor_ref, self._life, sessions, since, named))
        self._heartbeats = {
            row["id"]: row["heartbeat_minutes"]
            for row in record["subscriptions"]
            if row["ended_at"] is None and row["heartbeat_minutes"] is not None
        }
        self._beats_at = {name: at for name, at in self._beats_at.items() if name in self._heartbeats}
        await self._advance(known, ())
        await self._beat([name for name in self._heartbeats if name not in self._beats_at])

    def _begin_anew(self, error: Exception) -> None:
        """Forget what is known, and read it again after a pause."""
        pause = self._pauses.next()
        logger.log(
            logging.DEBUG if isinstance(error, WatcherBehind) else logging.WARNING,
            "What %s watches is looked at anew in %g s: %s",
            self._session,
            pause,
            error,
        )
        self._kept = None
        self.actor_ref.tell_after(pause, _TakeUp())

    def _rest(self) -> None:
        """Have the timer set to what is due next, or end when there is nothing to do."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._kept is None:
            return
        if self._kept.is_over:
            self._feed.tell(WatcherOver(self._session, self.actor_ref, self._handled))
            return
        if not self._ports.settings.agent_sessions:
            return  # nothing leaves until the owner lets agents use sessions again, which is told
        dues = [self._kept.due(self._ports.clock.wall()), *self._beats_at.values()]
        known = [due for due in dues if due is not None]
        if known:
            self._timer = self.actor_ref.tell_at(min(known), _Due())

    # -- heartbeats --------------------------------------------------------------------------------

    def _due_beats(self) -> list[str]:
        now = self._ports.clock.wall()
        return [name for name, at in self._beats_at.items() if at is not None and at <= now]

    async def _beat(self, names: Sequence[str]) -> None:
        """Have stored the heartbeat of each of these subscriptions that is due; it comes back by the log."""
        for name in names if self._ports.settings.agent_sessions else ():
            known = self._kept
            watch = None if known is None else known.watches.get(name)
            if known is None or watch is None:
                self._beats_at.pop(name, None)
                continue
            sessions = None if watch.sessions is None else sorted(watch.sessions)
            but = [self._session, *sorted(watch.excluded)]
            working = await read(self._ports.reader, "at_work", sessions=sessions, but=but)
            now = self._ports.clock.wall()
            minutes, quiet = self._heartbeats[name], known.watcher.terms[name].quiet
            beat = heartbeat(self._beats_at.get(name), minutes, now, runs=bool(working), quiet=quiet)
            self._beats_at[name] = beat.next_at
            if beat.tells:
                told = {"subscription": name, "at": now, "sessions": working[:SESSIONS_NAMED]}
                refusal = refusal_of(await written(self._writer, "tell_heartbeat", **told))
                if refusal is not None:
                    raise refusal

    # -- what leaves -------------------------------------------------------------------------------

    async def _advance(self, known: Kept, rows: Sequence[Row]) -> None:
        """Store what was heard, and let leave what is due; raises what the store or the session says."""
        now, pace = self._ports.clock.wall(), self._pace()
        after = seen(known, rows, now, pace) if rows else known
        if not self._ports.settings.agent_sessions:
            await self._stored(known, after)
            self._kept = after._replace(ended={})
            return
        left = leaving(after, now, pace, unread=None if self._unread is None else self._unread.text)
        if left.wakeup is not None and not await self._woken(known, left):
            self._unread = None
            left = leaving(after, now, pace)
            if left.wakeup is not None:
                await self._woken(known, left)
        if left.wakeup is None:
            await self._stored(known, left.kept)
        self._kept = left.kept._replace(ended={})

    async def _stored(self, known: Kept, after: Kept) -> None:
        keeps = changes(known, after)
        if not any(keeps.values()):
            return
        at = self._ports.clock.wall()
        answer: Answer = await written(self._writer, "advance_watcher", watcher=self._session, at=at, **keeps)
        refusal = refusal_of(answer)
        if refusal is not None:
            raise refusal

    async def _woken(self, known: Kept, left: Leaving) -> bool:
        """Have a wake-up stored; False when the message that it was to extend waits no more."""
        assert left.wakeup is not None
        extends = None if self._unread is None else self._unread.message
        row = {
            "id": self._ports.new_id("msg_"),
            "origin": "wakeup",
            "text": left.text,
            "hops": left.hops,
            "created_at": self._ports.clock.wall(),
        }
        events = tuple((key.relay, key.cursor) for key in left.wakeup.events)
        wake = WakeUp(Prompt(row), changes(known, left.kept), events, extends)
        try:
            accepted: Accepted = await self._supervisor.request(ToSession(self._session, wake))
        except WatcherBehind as behind:
            if behind.conflict == "read":
                return False
            raise
        self._unread = None if accepted.handed else _Unread(accepted.message, left.text)
        return True

    def _pace(self) -> Pace:
        settings = self._ports.settings
        return Pace(settings.coalesce_seconds, settings.wakeups_per_hour)
