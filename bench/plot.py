"""The comparison as a picture: how fast the others are where we are 1, on a logarithmic scale."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from bench.comparison import Comparison
from bench.quantities import times
from bench.row import PLAIN, US

WIDTH, LABELS, MARGIN, VALUES = 1000, 310, 24, 150
LANE, GAP, TOP = 15, 16, 92
COLOURS = {
    "pykka": "#c2703d",
    "asyncio": "#4c78a8",
    "xoscar": "#8a6fb3",
    "thespian": "#7f8c6b",
    "erlang": "#b5445a",
    PLAIN: "#8c8c8c",
}
INK, FAINT, GRID, GOOD, BAD = "#23272e", "#69717d", "#e3e6ea", "#2e8b57", "#c62828"
FONT = "ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Axis:
    """Maps a ratio to a place: whole decades from ``low`` to ``high`` (powers of ten)."""

    low: int
    high: int

    @classmethod
    def over(cls, ratios: list[float]) -> "Axis":
        """Span all ratios, and at least a decade on each side of 1."""
        logs = [math.log10(ratio) for ratio in ratios]
        return cls(min(-1, math.floor(min(logs, default=0))), max(1, math.ceil(max(logs, default=0))))

    def x(self, ratio: float) -> float:
        """Give the place of a ratio in pixels from the left; beyond the axis, its end."""
        part = (math.log10(ratio) - self.low) / (self.high - self.low)
        return LABELS + min(1.0, max(0.0, part)) * (WIDTH - LABELS - VALUES)

    def ticks(self) -> Iterator[int]:
        """Give the powers of ten on it."""
        return iter(range(self.low, self.high + 1))


@dataclass(frozen=True)
class Lane:
    """One bar of a row: who, how fast beside us, what the value is, and how fast they may be at most."""

    by: str
    speed: float
    label: str
    allowed: float | None
    reached: bool | None


def lanes(comparison: Comparison) -> list[Lane]:
    """Say what a row shows: a bar per peer, and one for the absolute limit."""
    row = comparison.row
    shown = []
    for figure in comparison.figures:
        ratio = comparison.ratio(figure.by)
        if ratio is not None:
            bar = row.bars.get(figure.by)
            allowed = None if bar is None else 1 / bar
            reached = comparison.reached(figure.by)
            shown.append(Lane(figure.by, 1 / ratio, row.unit.show(figure.median), allowed, reached))
    ours = comparison.figure(US)
    if row.limit is not None and ours is not None:
        speed = 1 / row.unit.better_by(ours.median, row.limit)
        shown.append(Lane("the bar", speed, row.unit.show(row.limit), None, comparison.reached(US)))
    return shown


def draw(comparisons: list[Comparison], facts: dict[str, str]) -> str:
    """Give the picture as SVG."""
    rows = [(comparison, lanes(comparison)) for comparison in comparisons if comparison.figure(US)]
    speeds = [speed for _, row in rows for lane in row for speed in (lane.speed, lane.allowed or 1)]
    axis = Axis.over(speeds)
    height = TOP + sum(LANE * max(1, len(row)) + GAP for _, row in rows) + 64
    parts = [*_frame(axis, height, facts), *_legend([lane.by for _, row in rows for lane in row])]
    y = float(TOP)
    for comparison, row in rows:
        parts += _row(comparison, row, axis, y)
        y += LANE * max(1, len(row)) + GAP
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="{FONT}" role="img" aria-label="{_TITLE}">\n{body}\n</svg>\n'
    )


_TITLE = "How fast others are, where Showcaller is 1"


def _text(x: float, y: float, words: str, *, size: int = 12, ink: str = INK, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{ink}" {more}>{escape(words)}</text>'


def _upright(x: float, top: float, bottom: float, colour: str, width: float) -> str:
    ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"/>'


def _frame(axis: Axis, height: int, facts: dict[str, str]) -> Iterator[str]:
    yield f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    yield _text(MARGIN, 32, _TITLE, size=19, more='font-weight="600"')
    measured_on = " · ".join(facts[name] for name in ("system", "python") if name in facts)
    yield _text(MARGIN, height - 16, f"Medians, measured in turns on {measured_on}", size=11, ink=FAINT)
    bottom = height - 52
    for tick in axis.ticks():
        x = axis.x(10.0**tick)
        colour, width = (INK, 1.5) if tick == 0 else (GRID, 1)
        yield _upright(x, TOP - 8, bottom, colour, width)
        yield _text(x, bottom + 16, f"{times(10.0**tick)} ×", size=11, ink=FAINT, more='text-anchor="middle"')
    one = axis.x(1)
    yield _text(one - 10, TOP - 16, "← slower than us", size=11, ink=FAINT, more='text-anchor="end"')
    yield _text(one + 10, TOP - 16, "faster than us →", size=11, ink=FAINT)


def _legend(present: list[str]) -> Iterator[str]:
    x = float(MARGIN)
    for name, colour in COLOURS.items():
        if name in present:
            yield f'<rect x="{x:.1f}" y="47" width="11" height="11" rx="2" fill="{colour}"/>'
            yield _text(x + 16, 57, name)
            x += 34 + 7 * len(name)
    yield _upright(x + 5, 46, 59, INK, 2)
    yield _text(x + 14, 57, "as far as the bar lets them go", ink=FAINT)


def _row(comparison: Comparison, row: list[Lane], axis: Axis, y: float) -> Iterator[str]:
    ours = comparison.figure(US)
    assert ours is not None
    middle = y + LANE * max(1, len(row)) / 2
    anchor = 'text-anchor="end"'
    yield _text(LABELS - 14, middle - 1, comparison.row.title, more=anchor)
    value = comparison.row.unit.show(ours.median)
    yield _text(LABELS - 14, middle + 13, value, size=11, ink=FAINT, more=f'{anchor} font-weight="600"')
    for number, lane in enumerate(row):
        yield from _lane(lane, axis, y + LANE * number)


def _lane(lane: Lane, axis: Axis, y: float) -> Iterator[str]:
    one, end = axis.x(1), axis.x(lane.speed)
    verdict = "" if lane.reached is None else "reached" if lane.reached else "missed"
    if lane.by == "the bar":
        colour = GOOD if lane.reached else BAD
        yield f'<path d="M{end:.1f} {y + 2:.1f} l5 5 l-5 5 l-5 -5 z" fill="{colour}"/>'
        words = f"bar {lane.label}, {verdict}"
    else:
        colour = COLOURS.get(lane.by, INK)
        left, width = min(one, end), max(1.0, abs(end - one))
        box = f'x="{left:.1f}" y="{y + 1:.1f}" width="{width:.1f}" height="{LANE - 4}" rx="2"'
        about = escape(f"{lane.by}: {lane.label}, {times(lane.speed)} × as fast as we")
        yield f'<rect {box} fill="{colour}"><title>{about}</title></rect>'
        words = lane.label if verdict != "missed" else f"{lane.label}, bar missed"
    beside = [end]
    if lane.allowed is not None:
        tick = axis.x(lane.allowed)
        yield _upright(tick, y - 1, y + LANE - 2, INK, 2)
        beside += [tick] if (tick < one) == (end < one) else []
    place, anchor = (min(beside) - 9, 'text-anchor="end"') if end < one else (max(beside) + 9, "")
    yield _text(place, y + 10.5, words, size=10, ink=BAD if verdict == "missed" else FAINT, more=anchor)
