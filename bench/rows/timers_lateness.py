"""How late the messages of 100,000 timers are, due one after the other over five seconds."""

import statistics
import time

from bench.quantities import Unit
from bench.row import Row
from bench.rows.timers_create import lead
from showcaller.actors.runtime import Actor, Future

APART = 50e-6  # seconds between two timers


def p99(lateness: list[float]) -> float:
    """Give what 99 of 100 stay under."""
    return statistics.quantiles(lateness, n=100)[98]


class Punctual(Actor):
    """Notes how long after its time each message is handled."""

    def __init__(self, expected: int, done: Future[list[float]]) -> None:
        super().__init__()
        self.expected = expected
        self.lateness: list[float] = []
        self.done = done

    def on_receive(self, due: float) -> None:
        self.lateness.append(time.monotonic() - due)
        if len(self.lateness) == self.expected:
            self.done.set(self.lateness)


def measure(count: int) -> float:
    """Give the lateness (seconds) that 99 of 100 stay under."""
    done: Future[list[float]] = Future()
    ref = Punctual.start(count, done)
    first = time.monotonic() + lead(count)
    for number in range(count):
        due = first + number * APART
        ref.tell_after(due - time.monotonic(), due)
    return p99(done.get())


ROW = Row(
    name="timers-lateness",
    title="lateness of 100,000 timers, p99",
    unit=Unit.SECONDS,
    measure=measure,
    count=100_000,
    tiny=500,
    fixed=True,
    limit=2e-3,
)
