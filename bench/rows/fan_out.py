"""One actor tells 10,000 others, which are there already, and each replies."""

import time
from typing import Any

from bench.quantities import Unit
from bench.row import Row
from showcaller.actors.runtime import Actor, ActorRef, Future


class Replier(Actor):
    """Tells whoever asks."""

    def on_receive(self, message: ActorRef[Any]) -> None:
        message.tell(1)


class Coordinator(Actor):
    """Tells all when it is told to start, and counts the replies."""

    def __init__(self, repliers: list[ActorRef[Replier]], done: Future[None]) -> None:
        super().__init__()
        self.repliers = repliers
        self.left = len(repliers)
        self.done = done

    def on_receive(self, message: int) -> None:
        if message == 0:
            for replier in self.repliers:
                replier.tell(self.actor_ref)
            return
        self.left -= 1
        if not self.left:
            self.done.set()


def measure(count: int) -> float:
    """Give the seconds from the first tell to the last reply."""
    done: Future[None] = Future()
    repliers = [Replier.start() for _ in range(count)]
    coordinator = Coordinator.start(repliers, done)
    repliers[-1].ask(Replier.start())  # all have started
    began = time.perf_counter()
    coordinator.tell(0)
    done.get()
    return time.perf_counter() - began


ROW = Row(
    name="fan-out",
    title="fan-out and reply, 10,000 actors",
    unit=Unit.SECONDS,
    measure=measure,
    count=10_000,
    tiny=100,
    fixed=True,
    bars={"pykka": 100, "asyncio": 2, "erlang": 0.3},
)
