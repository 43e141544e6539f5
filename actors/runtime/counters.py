"""Counters per actor class."""

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Counters:
    """What the actors of one class have done on one dispatcher.

    ``messages`` counts the runtime's own mail too: the orders to start and to stop, and news of children,
    watched actors and dead letters. ``restarts`` counts lives begun anew. ``seconds`` is the time inside
    their handlers, that of blocked ones included; ``high_water`` is the longest mailbox that a slice has
    found. A slice adds without a lock: with the GIL an addition is not interrupted; on free-threaded
    builds two slices of one class at the same moment may count as one.
    """

    actor_class: type[Any]
    messages: int = 0
    failures: int = 0
    restarts: int = 0
    high_water: int = 0
    seconds: float = 0.0

    def note_backlog(self, messages: int) -> None:
        """Remember how long a mailbox was, if that is the longest so far."""
        self.high_water = max(self.high_water, messages)

    def note_slice(self, messages: int, seconds: float) -> None:
        """Add what one slice did."""
        self.messages += messages
        self.seconds += seconds
        self.high_water = max(self.high_water, messages)
