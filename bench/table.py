"""The comparison as a table for people."""

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bench.comparison import Comparison, Figure
from bench.quantities import times
from bench.row import US

COLUMNS: tuple[tuple[str, int], ...] = (
    ("", 14),
    ("median", 10),
    ("lowest – highest", 23),
    ("we are", 9),
    ("bar", 12),
    ("", 7),
)
VERDICTS: Mapping[bool | None, Text] = {
    True: Text("reached", "green"),
    False: Text("missed", "bold red"),
    None: Text(""),
}


def table(comparisons: list[Comparison], facts: Mapping[str, str]) -> RenderableType:
    """Lay out all rows, under what they were measured on."""
    about = Text("\n".join(f"{name:10} {fact}" for name, fact in facts.items()), "dim")
    heading = _grid()
    heading.add_row(*(Text(name, "bold") for name, _ in COLUMNS))
    return Group(about, Text(), heading, *(part for each in comparisons for part in _row(each)))


def _grid() -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    for number, (_, width) in enumerate(COLUMNS):
        grid.add_column(width=width, justify="right" if number else "left", no_wrap=True)
    return grid


def _row(comparison: Comparison) -> Iterator[RenderableType]:
    yield Text(f"\n{comparison.row.title}", "bold")
    grid = _grid()
    for figure in comparison.figures:
        grid.add_row(*_cells(comparison, figure))
    yield grid
    for by, reason in comparison.failures.items():
        yield Text(f"  {by} failed: {reason.removeprefix(f'{by}: ')}", "red")


def _cells(comparison: Comparison, figure: Figure) -> tuple[RenderableType, ...]:
    unit = comparison.row.unit
    lowest, highest = figure.spread
    ratio = comparison.ratio(figure.by)
    style = "bold" if figure.by == US else ""
    return (
        Text(f"  {figure.by}", style),
        Text(unit.show(figure.median), style),
        Text(f"{unit.show(lowest)} – {unit.show(highest)}", "dim"),
        Text("" if ratio is None else f"{times(ratio)} ×"),
        Text(bar(comparison, figure.by)),
        VERDICTS[comparison.reached(figure.by)],
    )


def bar(comparison: Comparison, by: str) -> str:
    """Write the bar over somebody: a ratio, or the absolute one in our own line."""
    row = comparison.row
    if by == US:
        sign = "≥" if row.unit.higher_is_better else "≤"
        return "" if row.limit is None else f"{sign} {row.unit.show(row.limit)}"
    return f"≥ {times(row.bars[by])} ×" if by in row.bars else ""
