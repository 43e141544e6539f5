"""An actor is never in two handlers at once, whoever runs it and whatever its handlers wait for."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, ActorRef, Dispatcher, Future, take_reply

LIMIT = 30.0
SENDERS, EACH = 4, 60


class Slow(Actor):
    """Answers from another thread, so that who waits for it blocks."""

    registered = False

    def on_receive(self, message: Any) -> None:
        reply = take_reply()
        assert reply is not None
        threading.Timer(0.0005, reply.set, (message,)).start()


class Counting(Actor):
    """Notes when it is entered while it is inside."""

    registered = False

    def __init__(self, slow: ActorRef[Slow]) -> None:
        super().__init__()
        self.slow = slow
        self.inside = threading.Lock()
        self.entered_twice = 0
        self.handled = 0

    def on_receive(self, message: Any) -> Any:
        if message == "seen":
            return self.entered_twice, self.handled
        if not self.inside.acquire(blocking=False):
            self.entered_twice += 1
            return None
        try:
            self.work(message)
            self.handled += 1
        finally:
            self.inside.release()
        return None

    def work(self, message: int) -> None:
        """Block: a spare thread takes over, and meets our mail."""
        self.slow.ask(message)


class Computing(Counting):
    """Computes longer than the dispatcher's patience now and then, so that the watchdog has it overtaken."""

    def work(self, message: int) -> None:
        """Compute, every tenth time for long."""
        for _ in range(200_000 if message % 10 == 0 else 0):
            pass


@pytest.fixture
def dispatcher() -> Iterator[Dispatcher]:
    dispatcher = Dispatcher(patience=0.001)
    with dispatcher:
        yield dispatcher
    dispatcher.close()


@pytest.mark.parametrize("kind", [Counting, Computing])
def test_on_real_threads_no_handler_is_entered_while_another_of_the_actor_runs(
    dispatcher: Dispatcher, kind: type[Counting]
) -> None:
    actors = [kind.start(Slow.start()) for _ in range(3)]

    def send() -> None:
        for number in range(EACH):
            for actor in actors:
                actor.tell(number)

    senders = [threading.Thread(target=send) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join(LIMIT)
    assert [actor.ask("seen", timeout=LIMIT) for actor in actors] == [(0, SENDERS * EACH)] * len(actors)


class Keeping(Actor):
    """Keeps the reply of one message and gives it when another comes."""

    registered = False

    def __init__(self) -> None:
        super().__init__()
        self.kept: Future[Any] | None = None

    def on_receive(self, message: Any) -> str:
        if self.kept is None:
            self.kept = take_reply()
        else:
            self.kept.set(f"first, by {message}")
        return "second"


def test_a_kept_reply_is_answered_by_another_message(dispatcher: Dispatcher) -> None:
    ref = Keeping.start()
    first = ref.request("one")
    assert ref.ask("two", timeout=LIMIT) == "second"
    assert first.get(timeout=LIMIT) == "first, by two"
