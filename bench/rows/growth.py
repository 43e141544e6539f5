"""Whether an actor among ten times as many costs more to start and stop: 1 × is linear growth."""

import time

from bench.quantities import Unit
from bench.row import Row
from bench.rows.idle import Idle


def start_and_stop(count: int) -> float:
    """Give the seconds per actor, of which none is left."""
    began = time.perf_counter()
    refs = [Idle.start() for _ in range(count)]
    for ref in refs[:-1]:
        ref.stop(block=False)
    refs[-1].stop()
    return (time.perf_counter() - began) / count


def measure(count: int) -> float:
    """Give the cost of one of ``count`` actors over the cost of one of a tenth of them."""
    few = start_and_stop(count // 10)
    return start_and_stop(count) / few


ROW = Row(
    name="growth",
    title="start and stop: of 1,000,000 over of 100,000",
    unit=Unit.TIMES,
    measure=measure,
    count=1_000_000,
    tiny=500,
    limit=1.5,
)
