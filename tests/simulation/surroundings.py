"""What every part of a simulated world needs of the world."""

from collections.abc import Callable, Sequence
from typing import Protocol

from showcaller.store.batch import Answer, Batch


class Surroundings(Protocol):
    """Chance, time and the trace, as the parts of a world get them."""

    def happens(self, chance: float) -> bool:
        """Draw whether something happens."""
        ...

    def later(self, action: Callable[[], None], *, owner: str, channel: object = None) -> None:
        """Have something arrive after a time that is drawn; in order within its channel."""
        ...

    def work(self, seconds: float, action: Callable[[], None], *, owner: str) -> None:
        """Have an agent do something after so much of its own time."""
        ...

    def say(self, who: str, what: str) -> None:
        """Add to the trace."""
        ...

    def committed(self, batch: Batch, answers: Sequence[Answer]) -> None:
        """Note what was stored."""
        ...

    @property
    def storage_fails(self) -> bool:
        """Whether the disk is full at present."""
        ...
