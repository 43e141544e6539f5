"""Who waits for whom: agents that wait for each other in a circle would wait for ever."""

import threading
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Final

WAITED_FOR: Final = "that session is waiting for you"
"""The note of a call that would close a circle."""


def leads_to(waits: Mapping[str, Iterable[str]], start: str, goal: str) -> bool:
    """Tell whether ``start`` waits for ``goal``, over any chain; each waits for itself."""
    seen, left = {start}, [start]
    while left:
        session = left.pop()
        if session == goal:
            return True
        further = set(waits.get(session, ())) - seen
        seen |= further
        left.extend(further)
    return False


class Waits:
    """The calls of agents that wait now, as an edge from the caller's session to the target. Thread-safe."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._waits: dict[str, Counter[str]] = {}

    @contextmanager
    def waiting(self, session: str | None, target: str) -> Generator[bool]:
        """Note for the length of a ``with`` that ``session`` waits for ``target``.

        Gives False, and notes nothing, when the target waits for the session already, so that the call must
        not wait. The owner, whose session is None, waits for anybody.
        """
        may_wait = session is None or self._begin(session, target)
        try:
            yield may_wait
        finally:
            if may_wait and session is not None:
                self._end(session, target)

    def _begin(self, session: str, target: str) -> bool:
        with self._gate:
            if leads_to(self._waits, target, session):
                return False
            self._waits.setdefault(session, Counter())[target] += 1
            return True

    def _end(self, session: str, target: str) -> None:
        with self._gate:
            targets = self._waits[session]
            targets[target] -= 1
            if not targets[target]:
                del targets[target]
            if not targets:
                del self._waits[session]
