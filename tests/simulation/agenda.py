"""What is on its way between the relay and what is outside of it, and when it may arrive."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal

Kind = Literal["transit", "work"]


@dataclass(slots=True)
class Entry:
    """Something that will happen: not before ``due``, and after what was added to its ``channel`` before."""

    due: float
    action: Callable[[], None]
    kind: Kind
    channel: object
    owner: str


class Agenda:
    """Everything outside the relay that is still to happen; which of it comes next is drawn.

    ``transit`` is on its way and will soon be there; ``work`` is what an agent does in its own time.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._entries: list[Entry] = []

    def add(
        self,
        due: float,
        action: Callable[[], None],
        *,
        owner: str,
        kind: Kind = "transit",
        channel: object = None,
    ) -> None:
        """Have this happen, from ``due`` on."""
        self._entries.append(Entry(due, action, kind, channel, owner))

    def forget(self, owner: str) -> None:
        """A relay or a worker has ended, and with it what was on its way to and from it."""
        self._entries = [entry for entry in self._entries if entry.owner != owner]

    def _heads(self) -> list[Entry]:
        taken: set[object] = set()
        heads: list[Entry] = []
        for entry in self._entries:
            if entry.channel is None:
                heads.append(entry)
            elif entry.channel not in taken:
                taken.add(entry.channel)
                heads.append(entry)
        return heads

    def next_due(self, kind: Kind | None = None) -> float | None:
        """When the next thing (of a kind) may happen; None when nothing will."""
        return min((entry.due for entry in self._heads() if kind in {None, entry.kind}), default=None)

    def run_due(self, now: float, kind: Kind | None = None) -> bool:
        """Have one of the things (of a kind) happen that may by now; False when there is none."""
        due = [entry for entry in self._heads() if entry.due <= now and kind in {None, entry.kind}]
        if not due:
            return False
        entry = self._random.choice(due)
        self._entries.remove(entry)
        entry.action()
        return True
