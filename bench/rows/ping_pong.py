"""Two actors tell each other in turn."""

import time

from bench.quantities import Unit
from bench.row import Row
from showcaller.actors.runtime import Actor, ActorRef, Future


class Pong(Actor):
    """Sends back what it gets."""

    def on_receive(self, message: "tuple[ActorRef[Ping], int]") -> None:
        sender, left = message
        sender.tell(left)


class Ping(Actor):
    """Sends again until enough has come back."""

    def __init__(self, partner: ActorRef[Pong], done: Future[None]) -> None:
        super().__init__()
        self.partner = partner
        self.done = done

    def on_receive(self, left: int) -> None:
        if left:
            self.partner.tell((self.actor_ref, left - 1))
        else:
            self.done.set()


def measure(count: int) -> float:
    """Give the round trips per second."""
    done: Future[None] = Future()
    ping = Ping.start(Pong.start(), done)
    began = time.perf_counter()
    ping.tell(count)
    done.get()
    return count / (time.perf_counter() - began)


ROW = Row(
    name="ping-pong",
    title="ping-pong, round trips",
    unit=Unit.RATE,
    measure=measure,
    count=300_000,
    tiny=1_000,
    bars={"pykka": 40, "asyncio": 4, "erlang": 0.3},
)
