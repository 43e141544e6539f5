"""Real threads that switch every microsecond: run as a program, it says what it did or fails.

``python -m tests.actors.runtime.stress SECONDS``
"""

import logging
import random
import sys
import threading
import time
from typing import Any, ClassVar

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    AskCycle,
    ChildSpec,
    Dispatcher,
    Future,
    GetChild,
    MailboxFull,
    MailboxPolicy,
    RestartIntensity,
    Supervisor,
    Timeout,
)

WAIT = 60.0


class Worker(Actor):
    """Counts what it handles, fails when told to, and asks others in three ways."""

    registered = False

    def __init__(self, books: "Books") -> None:
        super().__init__()
        self.books = books

    def on_receive(self, message: Any) -> Any:
        kind, payload = message
        with self.books.lock:
            self.books.handled += 1
        if kind == "boom":
            raise ValueError(payload)
        if kind == "get":
            return payload.ask(("echo", 1), timeout=WAIT)
        if kind == "await":
            return self._awaiting(payload)
        return payload

    async def _awaiting(self, other: ActorRef[Any]) -> Any:
        return await other.request(("echo", 1), timeout=WAIT)


class Reentrant(Worker):
    """The same, reentrant."""

    reentrant = True


class Bounded(Worker):
    """The same with little room."""

    mailbox_limit: ClassVar[int | None] = 5
    mailbox_policy: ClassVar[MailboxPolicy] = "drop_oldest"


class Pinned(Worker):
    """The same with a thread of its own."""

    pinned = True


class Books:
    """What was sent, and what became of it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.handled = 0
        self.told = 0
        self.answers: list[Future[Any]] = []


class Sender(threading.Thread):
    """Tells, asks, kills, stops and sets timers at random until the time is over."""

    def __init__(self, seed: int, refs: list[ActorRef[Any]], books: Books, until: float) -> None:
        super().__init__(name=f"sender-{seed}")
        self.draw = random.Random(seed)
        self.refs = refs
        self.books = books
        self.until = until
        self.told = 0
        self.answers: list[Future[Any]] = []
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while time.monotonic() < self.until:
                self.act()
        except Exception as error:  # noqa: BLE001 - raised again by the main thread
            self.failure = error

    def act(self) -> None:
        ref, other = self.draw.choice(self.refs), self.draw.choice(self.refs)
        what = self.draw.random()
        try:
            if what < 0.5:
                ref.tell(("tell", 1))
                self.told += 1
            elif what < 0.7:
                self.answers.append(ref.ask((self.draw.choice(["echo", "get", "await"]), other), block=False))
            elif what < 0.75:
                self.answers.append(ref.request(("await", other), timeout=0.001))
            elif what < 0.8:
                ref.tell_after(self.draw.random() / 1_000, ("timed", 1)).cancel()
            elif what < 0.82:
                ref.tell(("boom", 1))
                self.told += 1
            elif what < 0.825:
                ref.kill()
            if len(self.answers) > 200:
                self.settle()
        except (ActorDeadError, MailboxFull):
            return

    def settle(self) -> None:
        """Wait for every answer that is owed: each ends in a value or in an error."""
        for answer in self.answers:
            try:
                answer.get(timeout=WAIT)
            except (ActorDeadError, AskCycle, MailboxFull):
                continue
            except Timeout:
                if not answer.done:
                    raise
        self.answers.clear()


def run(seconds: float, seed: int) -> int:
    """Let five threads disturb nine actors; gives the number of messages handled."""
    books = Books()
    until = time.monotonic() + seconds
    with Dispatcher(name="stress", patience=0.001) as dispatcher:
        specs = [
            ChildSpec(f"{kind.__name__}-{number}", kind, (books,))
            for number, kind in enumerate([Worker, Worker, Worker, Reentrant, Reentrant, Bounded, Pinned])
        ]
        intensity = RestartIntensity(10_000_000, 1)
        supervisor = Supervisor.start(specs, intensity=intensity)
        refs: list[ActorRef[Any]] = [supervisor.ask(GetChild(spec.name), timeout=WAIT) for spec in specs]
        senders = [Sender(seed + number, refs, books, until) for number in range(5)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join(WAIT + seconds)
            sender.settle()
            if sender.failure is not None:
                raise sender.failure
        assert all(ref.is_alive() for ref in refs)
        assert supervisor.stop(timeout=WAIT) is True
        assert dispatcher.wait_quiet(WAIT)
        assert not any(ref.is_alive() for ref in refs)
        assert not any(ref._mail or ref._system or ref._gate.locked() for ref in refs)
        assert dispatcher.suspended == {}
        assert dispatcher._blocked == {}
        assert books.handled > 0
    dispatcher.close()
    return books.handled


if __name__ == "__main__":
    logging.getLogger("pykka").setLevel(logging.CRITICAL)
    sys.setswitchinterval(1e-6)
    handled = run(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    sys.stdout.write(f"{handled} messages handled\n")
