"""The same wake-up beside a thread that computes, with the switch interval that the daemon sets."""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

from bench.quantities import Unit
from bench.row import Row
from bench.rows.timers_lateness import p99
from bench.rows.wake_idle import Sleeper, wake_up

DAEMON_SWITCH_INTERVAL = 0.0001


@contextmanager
def busy_thread() -> Generator[None]:
    """Keep a Python thread computing, and threads taking turns as in the daemon."""
    ended = threading.Event()

    def compute() -> None:
        total = 0
        while not ended.is_set():
            total += sum(range(100))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(DAEMON_SWITCH_INTERVAL)
    thread = threading.Thread(target=compute)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        sys.setswitchinterval(interval)


def measure(count: int) -> float:
    """Give the seconds that 99 of 100 wake-ups stay under."""
    sleeper = Sleeper.start()
    with busy_thread():
        return p99([wake_up(sleeper) for _ in range(count)])


ROW = Row(
    name="wake-busy",
    title="wake-up beside a busy thread, p99",
    unit=Unit.SECONDS,
    measure=measure,
    count=1_000,
    tiny=20,
    fixed=True,
    limit=1e-3,
)
