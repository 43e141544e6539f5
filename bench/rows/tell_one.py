"""One actor tells another as fast as it can, in rounds of 1,000, until all is handled."""

import time

from bench.quantities import Unit
from bench.row import Row
from showcaller.actors.runtime import Actor, ActorRef, Future

ROUND = 1_000


class Counter(Actor):
    """Counts what it is told."""

    def __init__(self, expected: int, done: Future[None]) -> None:
        super().__init__()
        self.left = expected
        self.done = done

    def on_receive(self, message: int) -> None:
        self.left -= 1
        if not self.left:
            self.done.set()


class Sender(Actor):
    """Tells a round, then tells itself to go on, so that its target gets a turn."""

    def __init__(self, target: "ActorRef[Counter]") -> None:
        super().__init__()
        self.target = target

    def on_receive(self, left: int) -> None:
        tell = self.target.tell
        for number in range(min(ROUND, left)):
            tell(number)
        if left > ROUND:
            self.actor_ref.tell(left - ROUND)


def measure(count: int) -> float:
    """Give the messages handled per second."""
    done: Future[None] = Future()
    sender = Sender.start(Counter.start(count, done))
    began = time.perf_counter()
    sender.tell(count)
    done.get()
    return count / (time.perf_counter() - began)


ROW = Row(
    name="tell-one",
    title="tell, 1 sender → 1 actor",
    unit=Unit.RATE,
    measure=measure,
    count=1_000_000,
    tiny=2_000,
    bars={"pykka": 8, "asyncio": 1.5, "erlang": 0.2},
)
