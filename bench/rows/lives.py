"""What supervision and death watch cost: telling, starting, restarting and stopping actors."""

import logging
import time

from bench.quantities import Unit
from bench.row import Row
from bench.rows import features, spawn, stop
from bench.rows.idle import Idle
from bench.rows.tell_one import Counter
from showcaller.actors.runtime import (
    Actor,
    ActorRef,
    ChildSpec,
    Future,
    RestartIntensity,
    Supervisor,
    Terminated,
)
from showcaller.actors.runtime.supervisor_mail import GetChild


def told_under_a_supervisor(count: int) -> float:
    """Tell a child, as fast as features.TOLD tells an actor without a supervisor."""
    done: Future[None] = Future()
    supervisor = Supervisor.start([ChildSpec("counter", Counter, (count, done))])
    counter: ActorRef[Counter] = supervisor.ask(GetChild("counter"))
    sender = features.Sender.start(counter.tell)
    began = time.perf_counter()
    sender.tell(count)
    done.get()
    return count / (time.perf_counter() - began)


def started_by_a_supervisor(count: int) -> float:
    """Give the seconds per child, until the last has started."""
    began = time.perf_counter()
    supervisor = Supervisor.start(ChildSpec(f"child {number}", Idle) for number in range(count))
    supervisor.ask(GetChild("child 0"))
    return (time.perf_counter() - began) / count


class Mortal(Actor):
    """Fails at every message but the last, and is restarted."""

    def __init__(self, done: Future[None]) -> None:
        super().__init__()
        self.done = done

    def on_receive(self, message: int) -> None:
        if message:
            raise RuntimeError("as it should")
        self.done.set()


def restarted(count: int) -> float:
    """Give the seconds from one life to the next, mail kept; what a failure logs goes nowhere."""
    logging.getLogger("pykka").addHandler(logging.NullHandler())
    logging.getLogger("pykka").propagate = False
    done: Future[None] = Future()
    often = RestartIntensity(restarts=count, seconds=3600)
    supervisor = Supervisor.start([ChildSpec("mortal", Mortal, (done,))], intensity=often)
    mortal: ActorRef[Mortal] = supervisor.ask(GetChild("mortal"))
    began = time.perf_counter()
    for left in range(count, -1, -1):
        mortal.tell(left)
    done.get()
    return (time.perf_counter() - began) / count


class Watcher(Actor):
    """Watches many, and says when it has heard of the end of all."""

    def __init__(self, done: Future[None]) -> None:
        super().__init__()
        self.left = 0
        self.done = done

    def on_receive(self, message: "list[ActorRef[Idle]] | Terminated") -> None:
        if isinstance(message, list):
            for ref in message:
                self.watch(ref)
            self.left = len(message)
            return
        self.left -= 1
        if not self.left:
            self.done.set()


def stopped_and_watched(count: int) -> float:
    """Give the seconds per actor, until the watcher has heard of the last."""
    refs = [Idle.start() for _ in range(count)]
    done: Future[None] = Future()
    Watcher.start(done).ask(refs)
    began = time.perf_counter()
    for ref in refs:
        ref.stop(block=False)
    done.get()
    return (time.perf_counter() - began) / count


def _row(name: str, title: str, unit: Unit) -> Row:
    measure, plain, count = _JOBS[name]
    return Row(f"cost-{name}", title, unit, measure, count, 100, plain=plain)


_JOBS = {
    "supervised": (told_under_a_supervisor, features.TOLD, 300_000),
    "children": (started_by_a_supervisor, spawn.measure, 10_000),
    "restart": (restarted, None, 2_000),
    "watch": (stopped_and_watched, stop.measure, 20_000),
}
ROWS: tuple[Row, ...] = (
    _row("supervised", "tell to a supervised actor, beside another", Unit.RATE),
    _row("children", "start a child, beside an actor of one's own", Unit.SECONDS),
    _row("restart", "restart of a child that failed", Unit.SECONDS),
    _row("watch", "stop a watched actor, beside another", Unit.SECONDS),
)
