"""What a relay remembers of the agents' conversations between their calls, for as long as it runs."""

import threading
from collections.abc import Callable
from itertools import takewhile
from typing import Final, NamedTuple

from showcaller.actors.contract.rate import WINDOW, Past, admit
from showcaller.actors.relay.calls.external_calls import ExternalCalls
from showcaller.actors.relay.calls.waits import Waits
from showcaller.actors.relay.messages import Identity

MANY: Final = 1_000
"""Conversations whose windows are kept before those that have run out are looked for."""


class Rates:
    """The sliding minute of each conversation. Thread-safe."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._past: dict[str, Past] = {}
        self._many = MANY

    def admit(self, session: str, now: int, *, write: bool) -> None:
        """Count one more call at ``now`` (milliseconds that never go back), or raise ``Refusal``."""
        with self._gate:
            self._past[session] = admit(self._past.get(session, Past()), now, write=write)
            if len(self._past) > self._many:
                self._past = {s: past for s, past in self._past.items() if past.calls[-1] > now - WINDOW}
                self._many = max(MANY, 2 * len(self._past))


class Look(NamedTuple):
    """Sessions that calls of one caller are about to set to work, and when that last changed."""

    sessions: frozenset[str]
    change: int


class Starting:
    """Sessions that agents are about to set to work, which the store does not show yet. Thread-safe."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._sessions: dict[str, list[tuple[str, str | None]]] = {}
        self._changes: dict[str, int] = {}  # by caller, the number of the last change
        self._forgotten = self._last = 0  # up to which change callers were forgotten, and the last of all

    def look(self, caller: str, name: str | None = None) -> Look:
        """Give what other calls of this caller are about to set to work; read the store after it.

        Calls of one ``name`` are one and its repeats, of which only one will set a session to work: what came
        before the first counts.
        """
        with self._gate:
            under_way = self._sessions.get(caller, ())
            earlier = takewhile(lambda other: name is None or other[1] != name, under_way)
            return Look(frozenset(other for other, _ in earlier), self._change_of(caller))

    def begin(
        self, caller: str, session: str, look: Look, name: str | None = None
    ) -> Callable[[], None] | None:
        """Note that ``caller`` is about to set ``session`` to work, with a call that it may have named.

        Gives what to call once the store shows it or nothing has come of it; to call that again is harmless.
        None says that something has changed since the ``look``, so that it has to be taken again.
        """
        with self._gate:
            if look.change != self._change_of(caller):
                return None
            under_way = self._sessions.setdefault(caller, [])
            under_way.append((session, name))
            self._changed(caller)
        left = [(session, name)]

        def end() -> None:
            with self._gate:
                while left:
                    under_way.remove(left.pop())
                    self._changed(caller)
                if not under_way and self._sessions.get(caller) is under_way:
                    del self._sessions[caller]

        return end

    def _change_of(self, caller: str) -> int:
        return self._changes.get(caller, self._forgotten)

    def _changed(self, caller: str) -> None:
        self._last += 1
        self._changes[caller] = self._last
        if len(self._changes) > MANY:  # who has looked before has to look again
            self._changes.clear()
            self._forgotten = self._last


class Conversations:
    """One relay's books about the agents that call it, and which relay it is once a call was told that."""

    def __init__(self) -> None:
        self.identity: Identity | None = None
        self.rates = Rates()
        self.starting = Starting()
        self.waits = Waits()
        self.external = ExternalCalls()
