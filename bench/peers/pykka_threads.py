"""pykka's ThreadingActor: a thread and a queue for each actor."""

import gc
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

import pykka

from bench.memory import resident
from bench.row import Measure
from bench.rows.tell_many import ACTORS, EACH
from bench.rows.tell_one import ROUND
from bench.rows.timers_lateness import p99
from bench.rows.wake_busy import busy_thread
from bench.rows.wake_idle import PAUSE


class Base(pykka.ThreadingActor):
    """Threads that let the process end."""

    use_daemon_thread = True


class Counter(Base):
    """Counts what it is told, and calls when all has come."""

    def __init__(self, expected: int, finished: Callable[[], object]) -> None:
        super().__init__()
        self.left = expected
        self.finished = finished

    def on_receive(self, message: int) -> None:
        self.left -= 1
        if not self.left:
            self.finished()


class Sender(Base):
    """Tells each target a round of messages, then goes on."""

    def __init__(self, targets: list[pykka.ActorRef[Any]], each: int) -> None:
        super().__init__()
        self.targets = targets
        self.each = each

    def on_receive(self, rounds: int) -> None:
        for _ in range(self.each):
            for target in self.targets:
                target.tell(rounds)
        if rounds > 1:
            self.actor_ref.tell(rounds - 1)


def _tell(targets: int, each: int, rounds: int) -> float:
    done = threading.Event()
    tally = Counter.start(targets, done.set)
    counters = [Counter.start(each * rounds, lambda: tally.tell(1)) for _ in range(targets)]
    sender = Sender.start(counters, each)
    began = time.perf_counter()
    sender.tell(rounds)
    done.wait()
    return targets * each * rounds / (time.perf_counter() - began)


def tell_one(count: int) -> float:
    return _tell(1, ROUND, max(1, count // ROUND))


def tell_many(count: int) -> float:
    return _tell(ACTORS, EACH, max(1, count // (ACTORS * EACH)))


class Member(Base):
    """Passes a number on, one less each time, to its neighbour."""

    def __init__(self, finished: Callable[[], object]) -> None:
        super().__init__()
        self.neighbour: pykka.ActorRef[Any] = self.actor_ref
        self.finished = finished

    def on_receive(self, message: Any) -> None:
        if not isinstance(message, int):
            self.neighbour = message
        elif message:
            self.neighbour.tell(message - 1)
        else:
            self.finished()


def _hops(actors: int, hops: int) -> float:
    done = threading.Event()
    members = [Member.start(done.set) for _ in range(actors)]
    for member, neighbour in zip(members, members[1:] + members[:1], strict=True):
        member.ask(neighbour)
    began = time.perf_counter()
    members[0].tell(hops)
    done.wait()
    return hops / (time.perf_counter() - began)


def ping_pong(count: int) -> float:
    return _hops(2, 2 * count) / 2


def ring(count: int) -> float:
    return _hops(ACTORS, count)


class Echo(Base):
    """Answers what it is asked; tells back whoever gives a ref."""

    def on_receive(self, message: Any) -> Any:
        if isinstance(message, pykka.ActorRef):
            message.tell(1)
        return message


class Coordinator(Base):
    """Tells all, and counts the replies."""

    def __init__(self, repliers: list[pykka.ActorRef[Echo]], finished: Callable[[], object]) -> None:
        super().__init__()
        self.repliers = repliers
        self.left = len(repliers)
        self.finished = finished

    def on_receive(self, message: int) -> None:
        if message == 0:
            for replier in self.repliers:
                replier.tell(self.actor_ref)
            return
        self.left -= 1
        if not self.left:
            self.finished()


def fan_out(count: int) -> float:
    done = threading.Event()
    coordinator = Coordinator.start([Echo.start() for _ in range(count)], done.set)
    began = time.perf_counter()
    coordinator.tell(0)
    done.wait()
    return time.perf_counter() - began


class Asker(Base):
    """Asks again and again, blocking: pykka knows no other way."""

    def __init__(self, answerer: pykka.ActorRef[Echo]) -> None:
        super().__init__()
        self.answerer = answerer

    def on_receive(self, count: int) -> None:
        for number in range(count):
            self.answerer.ask(number)


def ask(count: int) -> float:
    asker = Asker.start(Echo.start())
    began = time.perf_counter()
    asker.ask(count)
    return count / (time.perf_counter() - began)


def ask_thread(count: int) -> float:
    answerer = Echo.start()
    began = time.perf_counter()
    for number in range(count):
        answerer.ask(number)
    return count / (time.perf_counter() - began)


def idle(count: int) -> float:
    gc.collect()
    before = resident()
    refs = [Echo.start() for _ in range(count)]
    for ref in refs:
        ref.ask(0)
    gc.collect()
    return max(1.0, (resident() - before) / count)


def spawn(count: int) -> float:
    began = time.perf_counter()
    refs = [Echo.start() for _ in range(count)]
    refs[-1].ask(0)
    return (time.perf_counter() - began) / count


def stop(count: int) -> float:
    refs = [Echo.start() for _ in range(count)]
    began = time.perf_counter()
    for future in [ref.stop(block=False) for ref in refs]:
        future.get()
    return (time.perf_counter() - began) / count


class Sleeper(Base):
    """Says when its handler ran."""

    def on_receive(self, woken: pykka.ThreadingFuture[float]) -> None:
        woken.set(time.perf_counter())


def _wake_ups(count: int) -> list[float]:
    sleeper = Sleeper.start()
    took = []
    for _ in range(count):
        woken: pykka.ThreadingFuture[float] = pykka.ThreadingFuture()
        time.sleep(PAUSE)
        began = time.perf_counter()
        sleeper.tell(woken)
        took.append(woken.get() - began)
    return took


def wake_idle(count: int) -> float:
    return statistics.median(_wake_ups(count))


def wake_busy(count: int) -> float:
    with busy_thread():
        return p99(_wake_ups(count))


JOBS: dict[str, Measure] = {
    "tell-one": tell_one,
    "tell-many": tell_many,
    "ping-pong": ping_pong,
    "ring": ring,
    "fan-out": fan_out,
    "ask": ask,
    "ask-thread": ask_thread,
    "idle-actor": idle,
    "spawn": spawn,
    "stop": stop,
    "wake-idle": wake_idle,
    "wake-busy": wake_busy,
}
