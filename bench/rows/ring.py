"""A token goes round a ring of 1,000 actors."""

import time
from typing import Any

from bench.quantities import Unit
from bench.row import Row
from showcaller.actors.runtime import Actor, ActorRef, Future

ACTORS = 1_000


class Member(Actor):
    """Passes the token on to its neighbour, until it has made all its hops."""

    def __init__(self, done: Future[None]) -> None:
        super().__init__()
        self.done = done
        self.neighbour: ActorRef[Any] = self.actor_ref

    def on_receive(self, message: "int | ActorRef[Any]") -> None:
        if not isinstance(message, int):
            self.neighbour = message
        elif message:
            self.neighbour.tell(message - 1)
        else:
            self.done.set()


def measure(count: int) -> float:
    """Give the hops per second."""
    done: Future[None] = Future()
    members = [Member.start(done) for _ in range(ACTORS)]
    for member, neighbour in zip(members, members[1:] + members[:1], strict=True):
        member.ask(neighbour)
    began = time.perf_counter()
    members[0].tell(count)
    done.get()
    return count / (time.perf_counter() - began)


ROW = Row(
    name="ring",
    title="ring of 1,000, hops",
    unit=Unit.RATE,
    measure=measure,
    count=600_000,
    tiny=2_000,
    bars={"pykka": 40, "asyncio": 4, "erlang": 0.3},
)
