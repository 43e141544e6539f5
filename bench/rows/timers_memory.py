"""What a timer that waits takes of the memory."""

import gc

from bench.memory import resident
from bench.quantities import Unit
from bench.row import Row
from bench.rows.idle import Idle
from bench.rows.timers_create import HOUR


def measure(count: int) -> float:
    """Give the bytes per timer, whose message is not counted and whose handle nobody keeps."""
    ref = Idle.start()
    ref.ask(0)
    gc.collect()
    before = resident()
    for number in range(count):
        ref.tell_after(HOUR + number, None)
    gc.collect()
    return max(1.0, (resident() - before) / count)


ROW = Row(
    name="timers-memory",
    title="a timer that waits, of 100,000",
    unit=Unit.BYTES,
    measure=measure,
    count=100_000,
    tiny=1_000,
    fixed=True,
    limit=150,
)
