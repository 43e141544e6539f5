"""Stop 100,000 actors, until the last of them has stopped."""

import time

from bench.quantities import Unit
from bench.row import Row
from bench.rows.idle import Idle


def measure(count: int) -> float:
    """Give the seconds per actor."""
    refs = [Idle.start() for _ in range(count)]
    refs[-1].ask(0)
    began = time.perf_counter()
    for ref in refs[:-1]:
        ref.stop(block=False)
    refs[-1].stop()
    return (time.perf_counter() - began) / count


ROW = Row(
    name="stop",
    title="stop one of 100,000 actors",
    unit=Unit.SECONDS,
    measure=measure,
    count=100_000,
    tiny=200,
    limit=10e-6,
)
