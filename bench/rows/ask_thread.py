"""A thread that is no actor asks, and blocks until the reply is there."""

import time

from bench.quantities import Unit
from bench.row import Row
from bench.rows.ask import Answerer


def measure(count: int) -> float:
    """Give the replies per second."""
    answerer = Answerer.start()
    answerer.ask(0)
    began = time.perf_counter()
    for number in range(count):
        answerer.ask(number)
    return count / (time.perf_counter() - began)


ROW = Row(
    name="ask-thread",
    title="ask from another thread",
    unit=Unit.RATE,
    measure=measure,
    count=20_000,
    tiny=200,
    bars={"pykka": 1},
)
