"""What was measured, side by side: medians, spread, ratios and whether each bar is reached."""

import statistics
from dataclasses import dataclass, field

from bench.row import US, Row


@dataclass(frozen=True)
class Figure:
    """The figures of several runs by one of those compared, in the base unit."""

    by: str
    count: int
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The one that counts."""
        return statistics.median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """The lowest and the highest."""
        return min(self.values), max(self.values)


@dataclass
class Comparison:
    """One row with the figures of all who were measured, ours first, and why others were not."""

    row: Row
    figures: list[Figure] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    def figure(self, by: str) -> Figure | None:
        """Give the figures of one, if there are any."""
        return next((figure for figure in self.figures if figure.by == by), None)

    def ratio(self, by: str) -> float | None:
        """Say how many times as good as somebody we are, by the medians; None when either is missing."""
        ours, theirs = self.figure(US), self.figure(by)
        if ours is None or theirs is None or by == US:
            return None
        return self.row.unit.better_by(ours.median, theirs.median)

    def reached(self, by: str) -> bool | None:
        """Say whether a bar is reached: over a peer, or (by us) the absolute one; None without one."""
        if by == US:
            ours = self.figure(US)
            if ours is None or self.row.limit is None:
                return None
            return self.row.unit.within(ours.median, self.row.limit)
        bar, ratio = self.row.bars.get(by), self.ratio(by)
        return None if bar is None or ratio is None else ratio >= bar
