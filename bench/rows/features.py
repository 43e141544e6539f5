"""What a feature costs: the same job with it and without it, in turns."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, ClassVar

from bench.quantities import Unit
from bench.row import Measure, Row
from bench.rows import spawn
from bench.rows.ask import Answerer
from bench.rows.ask import measure as ask_plainly
from bench.rows.idle import Idle
from bench.rows.tell_one import Counter
from showcaller.actors.runtime import Actor, ActorRef, Future, take_reply

ROUND = 200


class Sender(Actor):
    """Sends in its own way a round of messages, then tells itself to go on."""

    def __init__(self, send: Callable[[int], object]) -> None:
        super().__init__()
        self.send = send

    def on_receive(self, left: int) -> None:
        send = self.send
        for number in range(min(ROUND, left)):
            send(number)
        if left > ROUND:
            self.actor_ref.tell(left - ROUND)


def told(counter: type[Counter], way: "Callable[[ActorRef[Any]], Callable[[int], object]]") -> Measure:
    """Measure the messages per second that such a counter handles when they are sent in such a way."""

    def measure(count: int) -> float:
        done: Future[None] = Future()
        sender = Sender.start(way(counter.start(count, done)))
        began = time.perf_counter()
        sender.tell(count)
        done.get()
        return count / (time.perf_counter() - began)

    return measure


def tell(ref: "ActorRef[Any]") -> Callable[[int], object]:
    """The plain way."""
    return ref.tell


TOLD = told(Counter, tell)


class AsyncCounter(Counter):
    """Handles in a coroutine that waits for nothing."""

    async def on_receive(self, message: int) -> None:  # type: ignore[override]
        super().on_receive(message)


class Pacer(Counter):
    """Asks for the next round when it has handled one."""

    def __init__(self, expected: int, done: Future[None]) -> None:
        super().__init__(expected, done)
        self.sender: ActorRef[PacedSender] | None = None

    def on_receive(self, message: "int | ActorRef[PacedSender]") -> None:
        if not isinstance(message, int):
            self.sender = message
            return
        super().on_receive(message)
        if self.left and not self.left % ROUND and self.sender is not None:
            self.sender.tell(self.left)


class PacedSender(Actor):
    """Sends a round when it is asked to."""

    def __init__(self, target: ActorRef[Pacer]) -> None:
        super().__init__()
        self.target = target
        target.tell(self.actor_ref)

    def on_receive(self, left: int) -> None:
        for number in range(min(ROUND, left)):
            self.target.tell(number)


class BoundedPacer(Pacer):
    """Has a mailbox with a limit, which a round does not reach."""

    mailbox_limit: ClassVar[int | None] = 2 * ROUND


def paced(pacer: type[Pacer]) -> Measure:
    """Measure the messages per second that such a counter handles when it asks for each round."""

    def measure(count: int) -> float:
        done: Future[None] = Future()
        sender = PacedSender.start(pacer.start(count, done))
        began = time.perf_counter()
        sender.tell(count)
        done.get()
        return count / (time.perf_counter() - began)

    return measure


class PinnedCounter(Counter):
    """Has a thread of its own."""

    pinned = True


class CalledCounter(Counter):
    """Is called through a proxy."""

    def count(self, number: int) -> None:
        self.on_receive(number)


def call(ref: "ActorRef[Any]") -> Callable[[int], object]:
    """Call a method through a proxy, without a reply."""
    deferred: Callable[[int], object] = ref.proxy().count.defer
    return deferred


class LateAnswerer(Actor):
    """Takes the reply over, and gives it itself."""

    def on_receive(self, message: int) -> None:
        reply = take_reply()
        if reply is not None:
            reply.set(message)


class Asker(Actor):
    """Awaits one reply after the other, asked for in its own way."""

    def __init__(self, request: Callable[[int], Future[Any]]) -> None:
        super().__init__()
        self.request = request

    async def on_receive(self, count: int) -> None:
        for number in range(count):
            await self.request(number)


def asked(request: Callable[[], Callable[[int], Future[Any]]]) -> Measure:
    """Measure the replies per second, asked for in such a way."""

    def measure(count: int) -> float:
        asker = Asker.start(request())
        began = time.perf_counter()
        asker.ask(count)
        return count / (time.perf_counter() - began)

    return measure


def with_timeout() -> Callable[[int], Future[Any]]:
    """Ask with a time after which the future gives up."""
    ref = Answerer.start()
    return lambda number: ref.request(number, timeout=60)


def awaited_on_a_loop(count: int) -> float:
    """Ask from a coroutine of asyncio."""
    ref = Answerer.start()

    async def ask() -> None:
        for number in range(count):
            await ref.request(number)

    began = time.perf_counter()
    asyncio.run(ask())
    return count / (time.perf_counter() - began)


class Unlisted(Idle):
    """An actor that the public registry does not list."""

    registered = False


def spawn_unlisted(count: int) -> float:
    """Start actors without the registry."""
    Unlisted.start().ask(0)
    began = time.perf_counter()
    refs = [Unlisted.start() for _ in range(count)]
    refs[-1].ask(0)
    return (time.perf_counter() - began) / count


def _told(name: str, title: str, measure: Measure) -> Row:
    return Row(f"cost-{name}", title, Unit.RATE, measure, 300_000, 500, plain=TOLD)


def _asked(name: str, title: str, measure: Measure, count: int = 100_000) -> Row:
    return Row(f"cost-{name}", title, Unit.RATE, measure, count, 500, plain=ask_plainly)


ROWS: tuple[Row, ...] = (
    _told("async", "tell to an async handler, beside a plain one", told(AsyncCounter, tell)),
    _told("proxy", "deferred call through a proxy, beside tell", told(CalledCounter, call)),
    Row(
        name="cost-bounded",
        title="tell to a bounded mailbox, beside another",
        unit=Unit.RATE,
        measure=paced(BoundedPacer),
        count=300_000,
        tiny=500,
        plain=paced(Pacer),
    ),
    _told("pinned", "tell to a pinned actor, beside another", told(PinnedCounter, tell)),
    _asked("late", "late reply, beside a returned one", asked(lambda: LateAnswerer.start().request)),
    _asked("timeout", "awaited ask with a timeout, beside without", asked(with_timeout)),
    _asked("loop", "ask awaited on an asyncio loop, beside a handler", awaited_on_a_loop, 20_000),
    Row(
        name="cost-registry",
        title="start an actor in the registry, beside one unlisted",
        unit=Unit.SECONDS,
        measure=spawn.measure,
        count=100_000,
        tiny=500,
        plain=spawn_unlisted,
    ),
)
