"""Set 100,000 timers that are due in an hour or later."""

import time

from bench.quantities import Unit
from bench.row import Row
from bench.rows.idle import Idle

HOUR = 3600.0


def lead(count: int) -> float:
    """Give the seconds to leave for setting so many timers before the first is due, on a busy machine too."""
    return 0.1 + count * 20e-6


def measure(count: int) -> float:
    """Give the timers set per second."""
    ref = Idle.start()
    ref.ask(0)
    began = time.perf_counter()
    timers = [ref.tell_after(HOUR + number, None) for number in range(count)]
    return len(timers) / (time.perf_counter() - began)


ROW = Row(
    name="timers-create",
    title="timers set, of 100,000",
    unit=Unit.RATE,
    measure=measure,
    count=100_000,
    tiny=1_000,
    fixed=True,
    limit=1e6,
)
