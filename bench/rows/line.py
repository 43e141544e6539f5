"""The whole line: a session per item runs the command ``true`` in a process, and every result is stored."""

import tempfile
import time
from importlib.util import find_spec

from bench.quantities import Unit
from bench.row import Row

JOBS = 16  # at the same time


def missing() -> str | None:
    """Say what this needs and is not there yet."""
    if find_spec("showcaller.embedding") is None:
        return "the embedded relay (showcaller.embedding) is not part of this checkout"
    return None


def measure(count: int) -> float:
    """Give the sessions per second, from the start of the fan-out to its last stored result."""
    from showcaller.actors.contract.fanout import FanoutSpec
    from showcaller.embedding import Relay

    items = [str(number) for number in range(count)]
    with tempfile.TemporaryDirectory(prefix="bench-line-") as home, Relay.open(home) as relay:
        spec = FanoutSpec(kind="command", template="true {}", provider="command", jobs=JOBS, cwd=home)
        began = time.perf_counter()
        states = [result.status for result in relay.start_fanout(spec, items).results()]
        took = time.perf_counter() - began
    if states.count("done") != count:
        raise RuntimeError(
            f"{count - states.count('done')} of {count} sessions did not end as done: {set(states)}"
        )
    return count / took


ROW = Row(
    name="line",
    title="fan-out of 500 commands through the relay, durable",
    unit=Unit.RATE,
    measure=measure,
    count=500,
    tiny=5,
    fixed=True,
    missing=missing,
)
