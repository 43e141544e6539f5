"""An actor asks another and waits for the reply before it asks again."""

import time
from typing import Any

from bench.quantities import Unit
from bench.row import Row
from showcaller.actors.runtime import Actor, ActorRef


class Answerer(Actor):
    """Gives back what it gets."""

    def on_receive(self, message: int) -> int:
        return message


class Asker(Actor):
    """Awaits one reply after the other, and answers when it has them all."""

    def __init__(self, answerer: ActorRef[Any]) -> None:
        super().__init__()
        self.answerer = answerer

    async def on_receive(self, count: int) -> None:
        for number in range(count):
            await self.answerer.request(number)


def measure(count: int) -> float:
    """Give the replies per second."""
    asker = Asker.start(Answerer.start())
    began = time.perf_counter()
    asker.ask(count)
    return count / (time.perf_counter() - began)


ROW = Row(
    name="ask",
    title="ask between actors (awaited)",
    unit=Unit.RATE,
    measure=measure,
    count=200_000,
    tiny=500,
    bars={"asyncio": 2.5, "erlang": 0.15},
)
