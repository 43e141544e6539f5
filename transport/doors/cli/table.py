"""Plain tables that cost one pass over their rows: a fan-out may have a hundred thousand."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import click

from showcaller.transport.doors.cli.visible import Cut, fit, width_of

GAP = 2
NARROWEST = 8


@dataclass(frozen=True)
class Column:
    """One column: its title, whether numbers stand right in it, where its cells may be cut, their colour.

    A column with ``cut`` None keeps its full width however narrow the terminal is.
    """

    title: str
    right: bool = False
    cut: Cut | None = None
    colour: Callable[[str], str | None] | None = None


def table_lines(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None, *, coloured: bool
) -> Iterator[str]:
    """Give the title line and a line per row, within ``width`` cells when it is given.

    Cells must be single lines of visible text.
    """
    widths = _widths(columns, rows, width)
    yield _line(columns, [column.title for column in columns], widths, coloured=False)
    for row in rows:
        yield _line(columns, row, widths, coloured=coloured)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    natural = [
        max([width_of(column.title), *(width_of(row[index]) for row in rows)])
        for index, column in enumerate(columns)
    ]
    if width is None:
        return natural
    fixed = sum(cells for cells, column in zip(natural, columns, strict=True) if column.cut is None)
    elastic = [index for index, column in enumerate(columns) if column.cut is not None]
    shares = share(width - fixed - GAP * (len(columns) - 1), [natural[index] for index in elastic])
    for index, cells in zip(elastic, shares, strict=True):
        natural[index] = cells
    return natural


def share(space: int, wishes: Sequence[int]) -> list[int]:
    """Divide ``space`` cells: small wishes are granted, others get equal parts, at least ``NARROWEST``."""
    granted = list(wishes)
    order = sorted(range(len(wishes)), key=lambda index: wishes[index])
    for place, index in enumerate(order):
        fair = max(space // (len(order) - place), NARROWEST)
        granted[index] = min(wishes[index], fair)
        space -= granted[index]
    return granted


def _line(columns: Sequence[Column], cells: Sequence[str], widths: Sequence[int], *, coloured: bool) -> str:
    parts = []
    for column, cell, width in zip(columns, cells, widths, strict=True):
        text = fit(cell, width, column.cut) if column.cut else cell
        padding = " " * (width - width_of(text))
        colour = column.colour(cell) if coloured and column.colour else None
        shown = click.style(text, fg=colour) if colour else text
        parts.append(padding + shown if column.right else shown + padding)
    return (" " * GAP).join(parts).rstrip()
