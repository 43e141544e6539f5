"""100,000 timers that are due at one moment, until the last message is handled."""

import time

from bench.quantities import Unit
from bench.row import Row
from bench.rows.tell_one import Counter
from bench.rows.timers_create import lead
from showcaller.actors.runtime import Future


def measure(count: int) -> float:
    """Give the timers handled per second, from the moment at which all were due."""
    done: Future[None] = Future()
    ref = Counter.start(count, done)
    due = time.monotonic() + lead(count)
    timers = [ref.tell_after(due - time.monotonic(), None) for _ in range(count)]
    late = time.monotonic() - due
    if late > 0:
        raise RuntimeError(f"setting {len(timers)} timers took {late:.3f} s too long to measure their firing")
    done.get()
    return count / (time.monotonic() - due)


ROW = Row(
    name="timers-fire",
    title="timers fired, 100,000 due at once",
    unit=Unit.RATE,
    measure=measure,
    count=100_000,
    tiny=1_000,
    fixed=True,
    limit=0.5e6,
)
