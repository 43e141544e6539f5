"""Start 100,000 actors, until the last of them has run ``on_start``."""

import time

from bench.quantities import Unit
from bench.row import Row
from bench.rows.idle import Idle


def measure(count: int) -> float:
    """Give the seconds per actor."""
    Idle.start().ask(0)
    began = time.perf_counter()
    refs = [Idle.start() for _ in range(count)]
    refs[-1].ask(0)
    return (time.perf_counter() - began) / count


ROW = Row(
    name="spawn",
    title="start one of 100,000 actors",
    unit=Unit.SECONDS,
    measure=measure,
    count=100_000,
    tiny=200,
    limit=3e-6,
)
