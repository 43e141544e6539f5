"""Units of what is measured, and how people like to read them."""

from enum import Enum


class Unit(Enum):
    """What a figure counts; values are kept in the base unit."""

    RATE = "/s"
    SECONDS = "s"
    BYTES = "B"
    TIMES = "×"

    @property
    def higher_is_better(self) -> bool:
        """True for rates; less is better of everything else."""
        return self is Unit.RATE

    def show(self, value: float) -> str:
        """Write a value with three digits and a fitting prefix: 4.31 M/s, 12.5 µs, 410 B."""
        if self is Unit.TIMES:
            return f"{times(value)} ×"
        for factor, prefix in _PREFIXES[self]:
            if value >= factor:
                return f"{digits(value / factor)} {prefix}{self.value}"
        factor, prefix = _PREFIXES[self][-1]
        return f"{digits(value / factor)} {prefix}{self.value}"

    def better_by(self, ours: float, theirs: float) -> float:
        """Say how many times as good ours is: above 1 is better."""
        return ours / theirs if self.higher_is_better else theirs / ours

    def within(self, value: float, limit: float) -> bool:
        """True when a value is at least as good as the limit."""
        return value >= limit if self.higher_is_better else value <= limit


_PREFIXES: dict[Unit, tuple[tuple[float, str], ...]] = {
    Unit.RATE: ((1e6, "M"), (1e3, "k"), (1, "")),
    Unit.SECONDS: ((1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")),
    Unit.BYTES: ((1e6, "M"), (1e3, "k"), (1, "")),
    Unit.TIMES: ((1, ""),),
}


def digits(value: float) -> str:
    """Write a number with three digits that count: 0.25, 4.31, 43.1, 431."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def times(ratio: float) -> str:
    """Write a ratio without digits that say nothing: 0.2, 1.5, 40, 312."""
    if ratio >= 10:
        return f"{ratio:,.0f}"
    return f"{ratio:.2f}".rstrip("0").rstrip(".") if ratio >= 0.01 else f"{ratio:.1g}"
