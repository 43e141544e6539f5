"""One actor tells 1,000 others by turns, 10 messages for each in a round, until all is handled."""

import time

from bench.quantities import Unit
from bench.row import Row
from bench.rows.tell_one import Counter
from showcaller.actors.runtime import Actor, ActorRef, Future

ACTORS = 1_000
EACH = 10


class Finisher(Actor):
    """Counts what it is told, and tells when all has come."""

    def __init__(self, expected: int, tally: "ActorRef[Counter]") -> None:
        super().__init__()
        self.left = expected
        self.tally = tally

    def on_receive(self, message: int) -> None:
        self.left -= 1
        if not self.left:
            self.tally.tell(1)


class Sender(Actor):
    """Tells all targets by turns, then tells itself to go on."""

    def __init__(self, targets: "list[ActorRef[Finisher]]") -> None:
        super().__init__()
        self.targets = targets

    def on_receive(self, rounds: int) -> None:
        for _ in range(EACH):
            for target in self.targets:
                target.tell(rounds)
        if rounds > 1:
            self.actor_ref.tell(rounds - 1)


def measure(count: int) -> float:
    """Give the messages handled per second."""
    rounds = max(1, count // (ACTORS * EACH))
    done: Future[None] = Future()
    tally = Counter.start(ACTORS, done)
    sender = Sender.start([Finisher.start(rounds * EACH, tally) for _ in range(ACTORS)])
    began = time.perf_counter()
    sender.tell(rounds)
    done.get()
    return rounds * ACTORS * EACH / (time.perf_counter() - began)


ROW = Row(
    name="tell-many",
    title="tell, 1 sender → 1,000 actors",
    unit=Unit.RATE,
    measure=measure,
    count=1_000_000,
    tiny=10_000,
    bars={"pykka": 100, "asyncio": 1.3, "erlang": 0.7},
)
