"""The comparison as data, for programs and for later."""

from collections.abc import Mapping
from typing import Any

from bench.comparison import Comparison, Figure


def record(comparisons: list[Comparison], facts: Mapping[str, str]) -> dict[str, Any]:
    """Give everything that was measured, with all single values in base units (/s, s, B)."""
    return {"measured_on": dict(facts), "rows": [_row(comparison) for comparison in comparisons]}


def _row(comparison: Comparison) -> dict[str, Any]:
    row = comparison.row
    return {
        "name": row.name,
        "title": row.title,
        "unit": row.unit.value,
        "higher_is_better": row.unit.higher_is_better,
        "limit": row.limit,
        "figures": [_figure(comparison, figure) for figure in comparison.figures],
        "failures": dict(comparison.failures),
    }


def _figure(comparison: Comparison, figure: Figure) -> dict[str, Any]:
    return {
        "by": figure.by,
        "count": figure.count,
        "median": figure.median,
        "values": list(figure.values),
        "times_as_good": comparison.ratio(figure.by),
        "bar": comparison.row.bars.get(figure.by),
        "reached": comparison.reached(figure.by),
    }
