"""While one handler sleeps or computes for a second, another actor is asked again and again."""

import time
from collections.abc import Callable

from bench.quantities import Unit
from bench.row import Row
from bench.rows.ask import Answerer
from showcaller.actors.runtime import Actor

PER_COUNT = 0.001  # the count of these rows is in milliseconds


def compute(seconds: float) -> None:
    """Keep this thread busy."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        sum(range(100))


class Blocker(Actor):
    """Blocks its thread in the way it is told."""

    def on_receive(self, message: tuple[Callable[[float], None], float]) -> None:
        block, seconds = message
        block(seconds)


def worst_answer(block: Callable[[float], None], seconds: float) -> float:
    """Give the longest that an ask took meanwhile, in seconds."""
    blocker, answerer = Blocker.start(), Answerer.start()
    answerer.ask(0)
    worst = 0.0
    blocked = blocker.ask((block, seconds), block=False)
    while not blocked.done:
        began = time.perf_counter()
        answerer.ask(0)
        worst = max(worst, time.perf_counter() - began)
    return worst


def measure_sleep(count: int) -> float:
    """Ask beside a handler that sleeps."""
    return worst_answer(time.sleep, count * PER_COUNT)


def measure_compute(count: int) -> float:
    """Ask beside a handler that computes."""
    return worst_answer(compute, count * PER_COUNT)


SLEEP = Row(
    name="beside-sleep",
    title="slowest answer beside 1 s of sleeping",
    unit=Unit.SECONDS,
    measure=measure_sleep,
    count=1_000,
    tiny=50,
    fixed=True,
    limit=30e-3,
)
COMPUTE = Row(
    name="beside-compute",
    title="slowest answer beside 1 s of computing",
    unit=Unit.SECONDS,
    measure=measure_compute,
    count=1_000,
    tiny=50,
    fixed=True,
    limit=30e-3,
)
