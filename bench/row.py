"""A row: one figure, how it is measured here, and what must be reached."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bench.quantities import Unit

Measure = Callable[[int], float]
"""Does a job of so many messages (actors, timers, …) and gives the figure in its base unit."""

US = "showcaller"
PLAIN = "plain"


@dataclass(frozen=True)
class Row:
    """One figure of the comparison.

    ``count`` is the size of the job, ``tiny`` the one that only shows that it works. A peer that is slower by
    orders does a share of the count, unless ``fixed`` says that the count is part of the question.
    ``bars`` say, per peer, how many times as good we must be; ``limit`` is an absolute bar in the base unit.
    ``plain`` does the same job without the feature that the row measures.
    """

    name: str
    title: str
    unit: Unit
    measure: Measure
    count: int
    tiny: int
    fixed: bool = False
    bars: Mapping[str, float] = field(default_factory=dict)
    limit: float | None = None
    plain: Measure | None = None
    missing: Callable[[], str | None] = lambda: None
    """Says what is missing for this row here, or None."""

    def size(self, size: str, share: float) -> int:
        """Give the count for a size (``tiny`` or ``normal``) and for somebody who does a share of it."""
        if size == "tiny":
            return self.tiny
        return self.count if self.fixed else max(self.tiny, round(self.count * share))
