"""Who waits for whom: agents that wait for each other in a circle would wait for ever."""

import threading
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Final, NamedTuple

WAITED_FOR: Final = "that session is waiting for you"
"""The note of a call that would close a circle."""


def chain_to(waits: Mapping[str, Iterable[str]], start: str, goal: str) -> tuple[str, ...] | None:
    """Give a chain over which ``start`` waits for ``goal``, both with it; None when it does not.

    Each waits for itself.
    """
    by: dict[str, str | None] = {start: None}
    left = [start]
    while left and goal not in by:
        session = left.pop()
        further = [target for target in waits.get(session, ()) if target not in by]
        by |= dict.fromkeys(further, session)
        left.extend(further)
    if goal not in by:
        return None
    chain, before = [goal], by[goal]
    while before is not None:
        chain.append(before)
        before = by[before]
    return tuple(reversed(chain))


class Waiting(NamedTuple):
    """A turn in which an agent waits for another session: ``session`` is the agent's own."""

    session: str
    turn: str


class Waits:
    """The turns of agents that wait now, as an edge from the agent's session to the target. Thread-safe.

    A call can go on when the turn in which it was made is over: whoever knows of that says it with ``over``.
    """

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._waits: dict[str, dict[str, Counter[str]]] = {}  # session, target, and how often in which turn

    @contextmanager
    def waiting(self, session: str | None, turn: str | None, target: str) -> Generator[bool]:
        """Note for the length of a ``with`` that ``session`` waits in its ``turn`` for ``target``.

        Gives False, and notes nothing, when the target waits for the session already, so that the call must
        not wait. The owner, whose session is None, waits for anybody; who has no turn keeps nobody waiting.
        """
        may_wait = session is None or self._begin(session, turn, target)
        try:
            yield may_wait
        finally:
            if may_wait and session is not None and turn is not None:
                self._end(session, turn, target)

    def chain(self, session: str, target: str) -> tuple[Waiting, ...]:
        """Give the turns, from ``target`` on, that wait for ``session`` in a chain; none when none does."""
        with self._gate:
            chain = chain_to(self._waits, target, session) or ()
            return tuple(Waiting(each, next(iter(self._waits[each][of]))) for each, of in pairwise(chain))

    def over(self, waiting: Waiting) -> None:
        """Forget what waits in a turn that is over."""
        with self._gate:
            for target in list(self._waits.get(waiting.session, ())):
                self._forget(waiting.session, waiting.turn, target, all_of_it=True)

    def _begin(self, session: str, turn: str | None, target: str) -> bool:
        with self._gate:
            if chain_to(self._waits, target, session) is not None:
                return False
            if turn is not None:
                self._waits.setdefault(session, {}).setdefault(target, Counter())[turn] += 1
            return True

    def _end(self, session: str, turn: str, target: str) -> None:
        with self._gate:
            self._forget(session, turn, target)

    def _forget(self, session: str, turn: str, target: str, *, all_of_it: bool = False) -> None:
        targets = self._waits.get(session, {})
        turns = targets.get(target, Counter())
        turns[turn] = 0 if all_of_it else turns[turn] - 1
        if turns[turn] <= 0:
            del turns[turn]
        if not turns:
            targets.pop(target, None)
        if not targets:
            self._waits.pop(session, None)
