"""A thread tells an actor whose dispatcher sleeps: how long until the handler runs."""

import statistics
import time

from bench.quantities import Unit
from bench.row import Row
from showcaller.actors.runtime import Actor, ActorRef, Future

PAUSE = 0.001  # seconds in which everything falls asleep again


class Sleeper(Actor):
    """Says when its handler ran."""

    def on_receive(self, woken: Future[float]) -> None:
        woken.set(time.perf_counter())


def wake_up(sleeper: ActorRef[Sleeper]) -> float:
    """Wake the actor once, and give the seconds it took."""
    woken: Future[float] = Future()
    time.sleep(PAUSE)
    began = time.perf_counter()
    sleeper.tell(woken)
    return woken.get() - began


def measure(count: int) -> float:
    """Give the median of the seconds."""
    sleeper = Sleeper.start()
    return statistics.median(wake_up(sleeper) for _ in range(count))


ROW = Row(
    name="wake-idle",
    title="wake-up from another thread, all idle, p50",
    unit=Unit.SECONDS,
    measure=measure,
    count=500,
    tiny=20,
    fixed=True,
    limit=25e-6,
)
