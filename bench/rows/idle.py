"""What an actor that waits for its first message takes of the memory."""

import gc

from bench.memory import resident
from bench.quantities import Unit
from bench.row import Row
from showcaller.actors.runtime import Actor


class Idle(Actor):
    """An actor without attributes of its own."""

    def on_receive(self, message: object) -> object:
        return message


def measure(count: int) -> float:
    """Give the bytes per actor."""
    Idle.start().ask(0)
    gc.collect()
    before = resident()
    refs = [Idle.start() for _ in range(count)]
    refs[-1].ask(0)  # all have started
    gc.collect()
    return max(1.0, (resident() - before) / count)


ROW = Row(
    name="idle-actor",
    title="an idle actor, of 1,000,000",
    unit=Unit.BYTES,
    measure=measure,
    count=1_000_000,
    tiny=2_000,
    limit=500,
)
