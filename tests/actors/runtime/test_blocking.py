"""Handlers that block: spare threads, the watchdog, cycles, and how deep it may go."""

import logging
import sys
import threading
import time
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorRef,
    AskCycle,
    Dispatcher,
    DispatcherExhausted,
    Future,
    take_reply,
)
from showcaller.actors.runtime.slow import name_of
from showcaller.actors.runtime.testkit import ManualDispatcher, NothingToRun


class Link(Actor):
    """Asks the next one, blocking, and adds one."""

    registered = False
    following: ActorRef[Any] | None

    def __init__(self, following: ActorRef[Any] | None = None) -> None:
        super().__init__()
        self.following = following

    def on_receive(self, message: Any) -> Any:
        if isinstance(message, ActorRef):
            self.following = message
            return None
        return message if self.following is None else 1 + self.following.ask(message)


class AsyncLink(Link):
    """Awaits the next one."""

    async def on_receive(self, message: Any) -> Any:
        if isinstance(message, ActorRef):
            self.following = message
            return None
        return message if self.following is None else 1 + await self.following.request(message)


def chain_of(count: int, kinds: list[type[Link]]) -> ActorRef[Any]:
    """Start a chain and give its first link."""
    ref: ActorRef[Any] = kinds[0].start()
    for number in range(1, count):
        ref = kinds[number % len(kinds)].start(ref)
    return ref


class TestDepth:
    @pytest.mark.parametrize("kinds", [[Link], [AsyncLink], [Link, AsyncLink]], ids=["get", "await", "mixed"])
    def test_a_chain_of_1000_is_answered(self, kinds: list[type[Link]], threads: Dispatcher) -> None:
        assert chain_of(1_000, kinds).ask(0, timeout=30) == 999

    @pytest.mark.parametrize("kind", [Link, AsyncLink])
    def test_a_fan_out_of_1000_is_answered(self, kind: type[Link], threads: Dispatcher) -> None:
        last = Link.start()
        answers = [kind.start(last).ask(number, block=False) for number in range(1_000)]
        assert [answer.get(timeout=30) for answer in answers] == [number + 1 for number in range(1_000)]

    def test_a_ring_of_1000_passes_a_message_round(self, threads: Dispatcher) -> None:
        done: Future[int] = Future()

        class Ring(Actor):
            registered = False
            following: "ActorRef[Any]"

            def on_receive(self, message: Any) -> None:
                if isinstance(message, ActorRef):
                    self.following = message
                elif message == 3_000:
                    done.set(message)
                else:
                    self.following.tell(message + 1)

        ring = [Ring.start() for _ in range(1_000)]
        for ref, following in zip(ring, [*ring[1:], ring[0]], strict=True):
            ref.tell(following)
        ring[0].tell(0)
        assert done.get(timeout=20) == 3_000

    def test_one_more_than_max_blocked_is_refused_with_its_chain(self) -> None:
        with Dispatcher(name="narrow", max_blocked=3) as narrow:
            assert chain_of(4, [Link]).ask(0, timeout=10) == 3
            with pytest.raises(DispatcherExhausted, match=r"more than 3 handlers.*Link.*→.*Link"):
                chain_of(5, [Link]).ask(0, timeout=10)
            assert chain_of(4, [Link]).ask(0, timeout=10) == 3, "nothing is used up"
        narrow.close()

    def test_threads_that_are_no_longer_needed_end(self, threads: Dispatcher) -> None:
        assert chain_of(50, [Link]).ask(0, timeout=10) == 49
        assert threads.wait_quiet(10)
        assert until(lambda: len(threads._threads) <= 6)


def until(condition: Any, seconds: float = 10) -> bool:
    """Look until something holds, inside a limit; looking gives other threads their turn."""
    end = time.monotonic() + seconds
    tick = threading.Event()
    while time.monotonic() < end:
        if condition():
            return True
        tick.wait(0.001)
    return False


class Once(Link):
    """Asks the next one only once: what it asked stays in the mailbox also when the wait is refused."""

    def on_receive(self, message: Any) -> Any:
        try:
            return super().on_receive(message)
        finally:
            self.following = message if isinstance(message, ActorRef) else None


class AsyncOnce(AsyncLink):
    """Awaits the next one only once."""

    async def on_receive(self, message: Any) -> Any:
        try:
            return await super().on_receive(message)
        finally:
            self.following = message if isinstance(message, ActorRef) else None


KINDS: list[type[Link]] = [Once, AsyncOnce]


class TestCycles:
    @pytest.mark.parametrize("first", KINDS)
    @pytest.mark.parametrize("second", KINDS)
    def test_a_cycle_of_two_names_both(
        self, first: type[Link], second: type[Link], threads: Dispatcher
    ) -> None:
        one = first.start()
        two = second.start(one)
        one.tell(two)
        with pytest.raises(AskCycle) as cycle:
            one.ask(0, timeout=10)
        assert cycle.value.actors == (two, one)
        assert str(cycle.value).count(" → ") == 2

    @pytest.mark.parametrize("first", KINDS)
    @pytest.mark.parametrize("second", KINDS)
    def test_a_cycle_is_seen_under_the_manual_dispatcher(
        self, first: type[Link], second: type[Link], manual: ManualDispatcher
    ) -> None:
        one = first.start()
        two = second.start(one)
        one.tell(two)
        with pytest.raises(AskCycle):
            one.ask(0)
        assert manual.suspended == {}

    @pytest.mark.parametrize("kind", KINDS)
    def test_asking_oneself_is_a_cycle_of_one(self, kind: type[Link], threads: Dispatcher) -> None:
        one = kind.start()
        one.tell(one)
        with pytest.raises(AskCycle, match="waits for itself: call the method itself"):
            one.ask(0, timeout=10)

    def test_a_cycle_of_100_mixed_is_seen(self, threads: Dispatcher) -> None:
        first = Once.start()
        ref: ActorRef[Any] = first
        for number in range(99):
            ref = KINDS[number % 2].start(ref)
        first.tell(ref)
        with pytest.raises(AskCycle) as cycle:
            first.ask(0, timeout=10)
        assert "→ (81 more) →" in str(cycle.value)
        assert len(cycle.value.actors) == 100

    def test_a_cycle_through_a_derived_future_is_seen(self, manual: ManualDispatcher) -> None:
        class Deriving(Once):
            async def on_receive(self, message: Any) -> Any:
                if isinstance(message, ActorRef):
                    self.following = message
                    return None
                assert self.following is not None
                done: Future[int] = Future()
                done.set(1)
                return await self.following.request(message).map(lambda value: value).join(done)

        one = Deriving.start()
        two = Deriving.start(one)
        one.tell(two)
        with pytest.raises(AskCycle):
            one.ask(0)

    def test_who_handed_its_reply_on_closes_no_cycle(self, manual: ManualDispatcher) -> None:
        kept: list[Future[Any]] = []

        class Desk(Actor):
            """Keeps the reply and asks its asker for something, while the asker waits."""

            registered = False

            async def on_receive(self, message: ActorRef[Any]) -> None:
                reply = take_reply()
                assert reply is not None
                kept.append(reply)
                await message.request("what?")

        class Asker(Actor):
            registered = False

            async def on_receive(self, message: Any) -> Any:
                return await message.request(self.actor_ref) if isinstance(message, ActorRef) else "this"

        answer = Asker.start().request(Desk.start())
        manual.settle()
        kept[0].set("answered by somebody else")
        assert answer.get() == "answered by somebody else"
        manual.settle()

    def test_two_that_close_a_cycle_at_once_are_not_both_refused(self, threads: Dispatcher) -> None:
        """Both block on each other at the same moment: exactly one gets the error, the other its answer."""
        for _ in range(30):
            together = threading.Barrier(2)

            class Crossing(Actor):
                registered = False
                pinned = True

                def on_receive(self, message: Any) -> Any:
                    if not isinstance(message, ActorRef):
                        return "answered"
                    together.wait(10)  # noqa: B023 - used in this round only
                    try:
                        return message.ask("hello", timeout=10)
                    except AskCycle:
                        return "refused"

            one, two = Crossing.start(), Crossing.start()
            answers = [one.ask(two, block=False), two.ask(one, block=False)]
            assert sorted(answer.get(timeout=10) for answer in answers) == ["answered", "refused"]
            one.stop()
            two.stop()

    def test_a_reentrant_actor_may_be_asked_back(self, manual: ManualDispatcher) -> None:
        class Back(Actor):
            registered = False
            reentrant = True

            async def on_receive(self, message: Any) -> Any:
                return await message.request(self.actor_ref) if isinstance(message, ActorRef) else "back"

        class Asking(Actor):
            registered = False

            async def on_receive(self, message: ActorRef[Any]) -> Any:
                return await message.request("hello")

        assert Back.start().ask(Asking.start()) == "back"


class TestTakingOver:
    @pytest.mark.parametrize("how", ["sleeps", "computes"])
    def test_an_actor_beside_one_that_is_busy_is_answered_while_it_is_so(
        self, how: str, threads: Dispatcher
    ) -> None:
        """How soon, the benchmarks measure; here the busy one does not end before the answers are there."""
        begun, over = threading.Event(), threading.Event()

        class Busy(Actor):
            registered = False

            def on_receive(self, message: Any) -> None:
                begun.set()
                if how == "sleeps":
                    over.wait()
                while not over.is_set():
                    sum(range(100))

        other = Link.start()
        other.ask(0)
        busy = Busy.start()
        done = busy.ask("work", block=False)
        try:
            assert begun.wait(10)
            for _ in range(5):
                other.ask(0, timeout=60)
            assert not done.done
        finally:
            over.set()
        done.get(timeout=60)

    def test_a_timer_fires_beside_a_handler_that_blocks(self, threads: Dispatcher) -> None:
        fired, over = Future[str](), threading.Event()

        class Busy(Actor):
            registered = False

            def on_receive(self, message: Any) -> None:
                over.wait(20)

        class Timed(Actor):
            registered = False

            def on_receive(self, message: str) -> None:
                fired.set(message)

        timed = Timed.start()
        Busy.start().tell("work")
        timed.tell_after(0.02, "fired")
        assert fired.get(timeout=10) == "fired"
        over.set()

    def test_a_slow_handler_is_named_in_a_warning(self) -> None:
        over, warned = threading.Event(), threading.Event()

        class Slow(Actor):
            registered = False

            def on_receive(self, message: Any) -> None:
                over.wait(20)

        class Listening(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                warnings.append(record.getMessage())
                warned.set()

        warnings: list[str] = []
        listening = Listening()
        logger = logging.getLogger("showcaller.actors")
        logger.addHandler(listening)
        try:
            with Dispatcher(name="slow", slow_after=0.05) as dispatcher:
                Slow.start().tell("work")
                assert Link.start().ask(0, timeout=10) == 0
                assert warned.wait(10)
            over.set()
            dispatcher.close()
        finally:
            logger.removeHandler(listening)
        assert "is slow" in warnings[0]
        assert "Slow.on_receive (line " in warnings[0]

    def test_the_handler_is_named_too_while_its_end_is_told(self, manual: ManualDispatcher) -> None:
        named: list[str] = []

        def look(_: Future[Any]) -> None:
            named.append(name_of(sys._getframe().f_back, Link))

        answer = Link.start().request(0)
        answer.add_done_callback(look)
        manual.settle()
        assert [*named, name_of(None, Link)] == ["Link.on_receive"] * 2

    def test_a_runner_that_waits_for_the_processor_is_not_overtaken(self, threads: Dispatcher) -> None:
        """A main program that computes makes the runner late, and more threads would not help."""
        refs = [Link.start() for _ in range(10)]
        most = 0
        end = time.monotonic() + 0.4
        while time.monotonic() < end:
            for ref in refs:
                ref.tell(0)
            sum(range(20_000))
            most = max(most, len(threads._threads))
        assert most <= 4

    def test_nothing_left_to_wait_for_is_said_under_the_manual_dispatcher(
        self, manual: ManualDispatcher
    ) -> None:
        with pytest.raises(NothingToRun, match="no step and no timer is left"):
            Future[None]().get()
