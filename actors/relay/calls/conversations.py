"""What a relay remembers of the agents' conversations between their calls, for as long as it runs."""

import threading
from collections.abc import Callable
from itertools import takewhile
from typing import Final

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


class Starting:
    """Sessions that agents are about to set to work, which the store does not show yet. Thread-safe."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._sessions: dict[str, list[tuple[str, str | None]]] = {}

    def begin(
        self, caller: str, session: str, name: str | None = None
    ) -> tuple[frozenset[str], Callable[[], None]]:
        """Note that ``caller`` is about to set ``session`` to work, with a call that it may have named.

        Gives the sessions that other calls of it were about to set to work before, and what to call once the
        store shows this one or nothing has come of it; to call that again is harmless. Calls of one name are
        one and its repeats, of which only one will set a session to work: what came before the first counts.
        """
        with self._gate:
            under_way = self._sessions.setdefault(caller, [])
            earlier = takewhile(lambda other: name is None or other[1] != name, under_way)
            before = frozenset(other for other, _ in earlier)
            under_way.append((session, name))
        left = [(session, name)]

        def end() -> None:
            with self._gate:
                while left:
                    under_way.remove(left.pop())
                if not under_way and self._sessions.get(caller) is under_way:
                    del self._sessions[caller]

        return before, end


class Conversations:
    """One relay's books about the agents that call it, and which relay it is once a call was told that."""

    def __init__(self) -> None:
        self.identity: Identity | None = None
        self.rates = Rates()
        self.starting = Starting()
        self.waits = Waits()
        self.external = ExternalCalls()
