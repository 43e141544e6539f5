"""Runs are interleaved: all do a row once before one does it again, and another begins each time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench.comparison import Comparison, Figure
from bench.measuring import MeasurementFailed
from bench.peer import Peer
from bench.row import PLAIN, US, Row


@dataclass(frozen=True)
class Step:
    """One measurement to make."""

    row: Row
    by: str
    count: int


def taking_part(row: Row, peers: list[Peer], size: str) -> list[Step]:
    """Say who is measured at a row, ours first."""
    steps = [Step(row, US, row.size(size, 1))]
    if row.plain is not None:
        steps.append(Step(row, PLAIN, row.size(size, 1)))
    steps += [Step(row, peer.name, peer.count(row, size)) for peer in peers if row.name in peer.jobs()]
    return steps


def interleaved(steps: list[Step], runs: int) -> Iterator[Step]:
    """Give the steps of all runs, each run beginning with another."""
    for run in range(runs):
        turn = run % len(steps)
        yield from steps[turn:] + steps[:turn]


def compare(steps: list[Step], runs: int, measure: Callable[[Step], float]) -> Comparison:
    """Make the measurements of one row; who fails once is not asked again."""
    comparison = Comparison(steps[0].row)
    values: dict[str, list[float]] = {step.by: [] for step in steps}
    for step in interleaved(steps, runs):
        if step.by in comparison.failures:
            continue
        try:
            values[step.by].append(measure(step))
        except MeasurementFailed as failure:
            comparison.failures[step.by] = str(failure)
    for step in steps:
        if values[step.by]:
            comparison.figures.append(Figure(step.by, step.count, tuple(values[step.by])))
    return comparison
