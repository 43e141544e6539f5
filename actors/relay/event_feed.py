"""Who waits for events: told when one that they wait for is in the log, without anybody polling it."""

import logging
from collections import deque
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.outside import Until
from showcaller.actors.relay.listeners import tell_if_alive
from showcaller.actors.relay.log_reading import Bell, Committed, LogReading, PageRead
from showcaller.actors.relay.ports import ReaderPort
from showcaller.actors.relay.replies import Reply, answer
from showcaller.actors.relay.watching import Row, fires
from showcaller.actors.runtime import Actor, Future, take_reply

logger = logging.getLogger("showcaller.relay")

KEPT: Final = 2000
"""Events that are kept for who comes a little late, having read the log up to one of them."""


class AwaitEvent(NamedTuple):
    """To the feed: answer when the log may hold an event after ``since`` that fires; read it then.

    ``sessions`` is None for all.
    """

    since: int
    sessions: frozenset[str] | None
    until: frozenset[Until]


class EndFeed(NamedTuple):
    """To the feed: give this to all who wait, and to who comes; nothing more will happen here."""

    error: Exception


class EventFeed(Actor):
    """Reads the log on behalf of all who wait, each event once, and only while somebody waits."""

    registered = False

    def __init__(self, reader: ReaderPort, bell: Bell) -> None:
        super().__init__()
        self._log = LogReading(reader, lambda read: tell_if_alive(self.actor_ref, read))
        self._bell = bell
        self._waiting: list[tuple[AwaitEvent, Future[Any]]] = []
        self._recent: deque[Row] = deque(maxlen=KEPT)
        self._from = 0  # the recent ones are all after this cursor
        self._ended: Exception | None = None

    def on_receive(self, message: Any) -> None:
        """Take who waits, and what is said of the log."""
        if isinstance(message, AwaitEvent):
            self._take(message, take_reply())
        elif isinstance(message, Committed):
            self._look()
        elif isinstance(message, PageRead):
            self._log.over()
            self._has_read(message)
        elif isinstance(message, EndFeed):
            self._end(message.error)
        else:
            super().on_receive(message)

    def on_stop(self) -> None:
        """Listen no more."""
        self._bell.leave(self.actor_ref)

    def _take(self, wish: AwaitEvent, reply: Reply) -> None:
        if reply is None or self._ended is not None:
            answer(reply, self._ended)
            return
        if not self._waiting:
            if not self._log.is_under_way:
                self._recent.clear()
                self._from = self._log.seen = wish.since
            self._bell.listen(self.actor_ref)  # before the log is read: what comes after that is told
        if wish.since < self._from or _any_fires(self._recent, wish):
            answer(reply, None)
            self._forget_answered()
            return
        self._waiting.append((wish, reply))
        self._look()

    def _look(self) -> None:
        """Read what is new, if anybody still waits."""
        if not self._log.is_under_way:
            self._forget_answered()
        if self._waiting:
            self._log.look()

    def _has_read(self, read: PageRead) -> None:
        if read.page is None:
            self._give_up(read.error or RuntimeError("the log of events was read without a result"))
            return
        rows: list[Row] = read.page["events"]
        if read.page["gap"] is not None:  # it was cut under us: who waits reads for himself and is told
            self._answer_all(None)
        self._keep(rows)
        more = self._log.took(read.page)
        by_session: dict[str, list[Row]] = {}
        for row in rows:
            by_session.setdefault(row["session"], []).append(row)
        for wish, reply in self._waiting:
            named = None if wish.sessions is None else wish.sessions & by_session.keys()
            due = rows if named is None else (row for each in named for row in by_session[each])
            if _any_fires(due, wish):
                answer(reply, None)
        if more:
            self._look()
        else:
            self._forget_answered()

    def _keep(self, rows: list[Row]) -> None:
        for row in rows:
            if len(self._recent) == KEPT:
                self._from = self._recent[0]["cursor"]
            self._recent.append(row)

    def _forget_answered(self) -> None:
        """Forget who was answered, or waits no more; hear nothing of the writer when nobody is left."""
        self._waiting = [(wish, reply) for wish, reply in self._waiting if not reply.done]
        if not self._waiting:
            self._bell.leave(self.actor_ref)

    def _answer_all(self, value: Any) -> None:
        for _, reply in self._waiting:
            answer(reply, value)
        self._forget_answered()

    def _give_up(self, error: Exception) -> None:
        logger.warning("The log of events could not be read for those who wait: %s", error)
        self._answer_all(error)

    def _end(self, error: Exception) -> None:
        self._ended = error
        self._answer_all(error)


def _any_fires(rows: Iterable[Row], wish: AwaitEvent) -> bool:
    return any(
        row["cursor"] > wish.since
        and (wish.sessions is None or row["session"] in wish.sessions)
        and fires(row, wish.until)
        for row in rows
    )
