"""The log of events read on, a page at a time, for whoever hears of it from the writer's bell."""

import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from showcaller.actors.relay.listeners import tell_if_alive
from showcaller.actors.relay.ports import ReaderPort
from showcaller.actors.runtime import ActorRef

PAGE: Final = 1000


class Committed(NamedTuple):
    """From the writer: a batch is committed that may have appended to the log."""


class PageRead(NamedTuple):
    """From the readers: a page of the log, or what failed."""

    page: dict[str, Any] | None
    error: Exception | None


class Bell:
    """What the writer rings after each commit; it costs a look while nobody listens. Thread-safe."""

    __slots__ = ("_gate", "_listeners")

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._listeners: tuple[ActorRef[Any], ...] = ()

    def ring(self) -> None:
        """Tell all who listen that something was committed."""
        for listener in self._listeners:
            tell_if_alive(listener, Committed())

    def listen(self, listener: ActorRef[Any]) -> None:
        """Have this actor told from now on."""
        with self._gate:
            if listener not in self._listeners:
                self._listeners = (*self._listeners, listener)

    def leave(self, listener: ActorRef[Any]) -> None:
        """Have this actor told no more."""
        with self._gate:
            self._listeners = tuple(each for each in self._listeners if each != listener)


class LogReading:
    """How far an actor has read the log; what is read comes to it as ``PageRead``."""

    def __init__(self, reader: ReaderPort, tell: Callable[[PageRead], None]) -> None:
        self._reader = reader
        self._tell = tell
        self._again = False
        self.is_under_way = False
        self.seen = 0

    def look(self) -> None:
        """Read what is new; one page at a time, however often this is asked meanwhile."""
        if self.is_under_way:
            self._again = True
            return
        self.is_under_way, self._again = True, False
        self._reader.read(
            "told_events",
            {"since": self.seen, "limit": PAGE},
            lambda page, error: self._tell(PageRead(page, error)),
        )

    def over(self) -> None:
        """Note that what was asked for has come."""
        self.is_under_way = False

    def took(self, page: dict[str, Any]) -> bool:
        """Note that a page was taken; tells whether there may be more to read."""
        self.seen = max(self.seen, page["next"])
        return self._again or len(page["events"]) == PAGE
