"""Thespian: its multi-process system base. Each actor is a process, so rows with thousands are left out."""

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.row import Measure
from bench.rows.tell_one import ROUND

thespian: Any = import_module("thespian.actors")  # without types, and not always installed

BASE = "multiprocQueueBase"
LIMIT = 60.0  # seconds after which an answer is given up


class Counter(thespian.Actor):  # type: ignore[misc]
    """Counts what it is told; whoever asks gets the answer when all has come."""

    def __init__(self) -> None:
        super().__init__()
        self.expected = -1
        self.counted = 0
        self.asker: Any = None

    def receiveMessage(self, message: Any, sender: Any) -> None:  # noqa: N802  (its name for it)
        if isinstance(message, tuple):
            self.asker, self.expected = sender, message[1]
        else:
            self.counted += 1
        if self.counted == self.expected:
            self.send(self.asker, time.time())


class Sender(thespian.Actor):  # type: ignore[misc]
    """Tells its target a round of messages, then itself to go on."""

    target: Any = None

    def receiveMessage(self, message: Any, sender: Any) -> None:  # noqa: N802
        if isinstance(message, tuple):
            self.target, message = message[1], message[2]
        if not isinstance(message, int):
            return
        for number in range(min(ROUND, message)):
            self.send(self.target, number)
        if message > ROUND:
            self.send(self.myAddress, message - ROUND)


class Ping(thespian.Actor):  # type: ignore[misc]
    """Sends back what it gets, one less each time; answers whoever started it."""

    asker: Any = None

    def receiveMessage(self, message: Any, sender: Any) -> None:  # noqa: N802
        if isinstance(message, tuple):
            self.asker = sender
            self.send(message[1], message[2])
        elif isinstance(message, int):
            if message:
                self.send(sender, message - 1)
            else:
                self.send(self.asker or sender, -1)


class Echo(thespian.Actor):  # type: ignore[misc]
    """Answers what it is asked."""

    def receiveMessage(self, message: Any, sender: Any) -> None:  # noqa: N802
        if isinstance(message, int):
            self.send(sender, message)


def in_a_system(job: Callable[[Any, int], float]) -> Measure:
    """Run a job in a system of its own, and shut that down."""

    def run(count: int) -> float:
        system = thespian.ActorSystem(BASE, transientUnique=True)
        try:
            return job(system, count)
        finally:
            system.shutdown()

    return run


def tell_one(system: Any, count: int) -> float:
    counter, sender = system.createActor(Counter), system.createActor(Sender)
    began = time.time()
    system.tell(sender, ("to", counter, count))
    ended = system.ask(counter, ("expect", count), LIMIT)
    if ended is None:
        raise TimeoutError(f"Thespian did not handle {count} messages in {LIMIT:.0f} s")
    return count / (float(ended) - began)


def ping_pong(system: Any, count: int) -> float:
    ping, pong = system.createActor(Ping), system.createActor(Ping)
    began = time.perf_counter()
    answer = system.ask(ping, ("to", pong, 2 * count - 1), LIMIT)
    if answer is None:
        raise TimeoutError(f"Thespian did not make {count} round trips in {LIMIT:.0f} s")
    return count / (time.perf_counter() - began)


def ask_thread(system: Any, count: int) -> float:
    echo = system.createActor(Echo)
    system.ask(echo, 0, LIMIT)
    began = time.perf_counter()
    for number in range(count):
        system.ask(echo, number, LIMIT)
    return count / (time.perf_counter() - began)


JOBS: dict[str, Measure] = {
    "tell-one": in_a_system(tell_one),
    "ping-pong": in_a_system(ping_pong),
    "ask-thread": in_a_system(ask_thread),
}
