"""The test kit: steps, seeds, virtual time, probes, and what it says when nothing is left to do."""

import gc
import math
import signal
import threading
import weakref
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRegistry,
    Dispatcher,
    Future,
    Timeout,
    default_dispatcher,
)
from showcaller.actors.runtime.testkit import (
    ManualClock,
    ManualDispatcher,
    NeverSettles,
    NothingToRun,
    Probe,
    probe,
)


class TestSteps:
    def test_nothing_runs_by_itself(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        ref.tell("hello")
        assert got == []
        assert manual.step() is True
        assert got == ["hello"]
        assert manual.step() is False

    def test_settle_gives_the_steps_it_took(self, manual: ManualDispatcher) -> None:
        refs = [Probe.start() for _ in range(5)]
        assert manual.settle() == 5
        for ref in refs:
            ref.tell("x")
        assert manual.settle() == 5
        assert manual.steps == 10

    def test_settle_gives_up_on_what_runs_for_ever(self, manual: ManualDispatcher) -> None:
        class Endless(Actor):
            registered = False

            def on_receive(self, message: Any) -> None:
                self.actor_ref.tell(message)

        Endless.start().tell("again")
        with pytest.raises(NeverSettles, match="still not settled after 100 steps"):
            manual.settle(limit=100)

    def test_get_runs_steps_until_it_is_done(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        assert ref.ask("hello") is None
        assert got == ["hello"]

    def test_get_says_when_nobody_can_answer(self, manual: ManualDispatcher) -> None:
        with pytest.raises(NothingToRun, match="is a reply missing"):
            Future[None]().get()

    def test_get_with_a_timeout_lets_time_pass(self, manual: ManualDispatcher) -> None:
        with pytest.raises(Timeout, match="30 seconds"):
            Future[None]().get(timeout=30)
        assert manual.clock.monotonic() == 30

    def test_mail_may_come_from_other_threads(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        senders = [threading.Thread(target=ref.tell, args=(number,)) for number in range(20)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        manual.settle()
        assert sorted(got) == list(range(20))

    def test_outside_of_the_block_actors_start_elsewhere(self) -> None:
        with ManualDispatcher() as outer:
            with ManualDispatcher() as inner:
                assert Probe.start().dispatcher is inner
            assert Probe.start().dispatcher is outer
        ref = Probe.start()
        assert ref.dispatcher is default_dispatcher()
        ref.stop()

    def test_blocks_of_two_threads_do_not_mix(self) -> None:
        one, two = ManualDispatcher(), ManualDispatcher()
        inside, leave = threading.Event(), threading.Event()
        seen: list[Any] = []

        def other() -> None:
            with two:
                inside.set()
                leave.wait(10)
                seen.append(Probe.start().dispatcher)

        thread = threading.Thread(target=other)
        with one:
            thread.start()
            inside.wait(10)
            seen.append(Probe.start().dispatcher)
        leave.set()
        thread.join(10)
        assert seen == [one, two]


def order(seed: int | None) -> list[int]:
    """Let ten actors tell one their number, in the order of a seed."""
    with ManualDispatcher(seed=seed) as manual:
        ref, got = probe()

        class Telling(Actor):
            registered = False

            def on_receive(self, message: int) -> None:
                ref.tell(message)

        for number in range(10):
            Telling.start().tell(number)
        manual.settle()
        return got


class TestSeeds:
    def test_without_a_seed_the_order_is_that_of_scheduling(self) -> None:
        assert order(None) == list(range(10))

    def test_the_same_seed_gives_the_same_order(self) -> None:
        assert order(7) == order(7)

    def test_seeds_give_many_orders(self) -> None:
        assert len({tuple(order(seed)) for seed in range(20)}) > 10


class TestClock:
    def test_it_stands_still_until_it_is_moved(self) -> None:
        clock = ManualClock(wall=5_000)
        assert (clock.monotonic(), clock.wall()) == (0, 5_000)
        clock.move_to(2.5)
        assert (clock.monotonic(), clock.wall()) == (2.5, 7_500)
        clock.set_wall(100)
        assert (clock.monotonic(), clock.wall()) == (2.5, 100)
        clock.move_to(3)
        assert clock.wall() == 600

    def test_it_does_not_go_back(self) -> None:
        clock = ManualClock()
        clock.move_to(2)
        with pytest.raises(ValueError, match="cannot go back to 1 s"):
            clock.move_to(1)

    @pytest.mark.parametrize("seconds", [-5, math.nan, math.inf, "1", None])
    def test_what_is_no_time_is_refused_in_words(self, seconds: Any, manual: ManualDispatcher) -> None:
        manual.advance(10)
        for refused in (manual.advance, manual.manual_clock.move_to):
            with pytest.raises((TypeError, ValueError), match="time is a number of seconds"):
                refused(seconds)
        assert manual.clock.monotonic() == 10

    def test_advance_runs_what_is_due_at_its_own_moment(self, manual: ManualDispatcher) -> None:
        times: list[float] = []

        class Chain(Actor):
            registered = False

            def on_receive(self, message: int) -> None:
                times.append(manual.clock.monotonic())
                if message:
                    self.actor_ref.tell_after(10, message - 1)

        Chain.start().tell(5)
        manual.advance(35)
        assert times == [0, 10, 20, 30]
        assert manual.clock.monotonic() == 35


class TestProbe:
    def test_it_keeps_what_it_gets(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        ref.tell("one")
        ref.tell("two")
        manual.settle()
        assert got == ["one", "two"]

    def test_a_stopped_one_takes_no_more(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        ref.stop()
        with pytest.raises(ActorDeadError):
            ref.tell("late")
        assert got == []


class Echo(Actor):
    """Gives back what it gets."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        return message


class TestOtherDispatchers:
    """Waiting for an actor that lives elsewhere can never end: the error says so at once."""

    def test_an_actor_is_not_asked_after_its_block(self) -> None:
        with ManualDispatcher():
            echo = Echo.start()
        for timeout in (None, 5):
            with pytest.raises(NothingToRun, match=r"Echo \(urn.* another dispatcher .*`with` block"):
                echo.ask("x", timeout=timeout)

    def test_an_actor_is_not_asked_in_the_block_of_another_dispatcher(self, threads: Dispatcher) -> None:
        with ManualDispatcher():
            echo = Echo.start()
            with threads, pytest.raises(NothingToRun, match="lives on another dispatcher"):
                echo.ask("x")
            assert echo.ask("x") == "x"

    @pytest.mark.parametrize("timeout", [None, 5])
    def test_an_actor_on_threads_is_not_asked_in_a_manual_block(
        self, threads: Dispatcher, timeout: float | None
    ) -> None:
        holding: Future[str] = Future()

        class Holding(Echo):
            def on_receive(self, message: Any) -> Any:
                return holding.get()

        held = Holding.start()
        with (
            ManualDispatcher() as manual,
            pytest.raises(NothingToRun, match=r"Holding .* another dispatcher"),
        ):
            held.ask("x", timeout=timeout)
        assert manual.clock.monotonic() == 0
        holding.set("done")
        assert held.ask("x", timeout=10) == "done"

    def test_who_waits_for_such_an_actor_is_named_too(self, threads: Dispatcher) -> None:
        holding: Future[str] = Future()

        class Holding(Echo):
            def on_receive(self, message: Any) -> Any:
                return holding.get()

        class Asks(Echo):
            async def on_receive(self, message: Any) -> Any:
                return await message.request("x")

        held = Holding.start()
        with ManualDispatcher(), pytest.raises(NothingToRun, match=r"Holding .* lives on another dispatcher"):
            Asks.start().ask(held, timeout=5)
        holding.set("done")

    def test_another_thread_may_wait_while_the_steps_are_run(self, manual: ManualDispatcher) -> None:
        echo = Echo.start()
        heard: Future[Any] = Future()
        asking = threading.Thread(target=lambda: heard.set(echo.ask("x", timeout=10)))
        asking.start()
        while asking.is_alive():
            manual.settle()
        asking.join()
        assert heard.get() == "x"


class Registered(Echo):
    """Stands in the registry."""

    registered = True


class TestRegistry:
    """Its actors stand in the registry while the block is open: nobody could stop them afterwards."""

    def test_all_others_can_be_stopped_after_the_block(self, threads: Dispatcher) -> None:
        real = Registered.start()
        with ManualDispatcher() as manual:
            by_hand = Registered.start()
            manual.settle()
        assert ActorRegistry.stop_all(timeout=10) == [True]
        assert (real.is_alive(), by_hand.is_alive()) == (False, True)

    def test_they_come_back_with_the_next_block(self) -> None:
        with ManualDispatcher() as manual:
            with manual:
                refs = [Registered.start() for _ in range(3)]
            assert ActorRegistry.get_all() == refs
        assert ActorRegistry.get_all() == []
        with manual:
            assert ActorRegistry.stop_all() == [True] * 3

    def test_what_a_block_has_left_is_collected(self) -> None:
        class Pinned(Registered):
            pinned = True

        with ManualDispatcher() as manual:
            ref = Pinned.start()
            manual.settle()
        left = weakref.ref(manual)
        del manual, ref
        gc.collect()
        assert left() is None


class Interrupted(Exception):
    """Raised by a signal."""


class TestInterrupted:
    def test_the_next_one_waits_until_the_handler_under_way_is_over(self, manual: ManualDispatcher) -> None:
        log: list[str] = []
        released, main = threading.Event(), threading.get_ident()

        class Long(Echo):
            def on_receive(self, message: Any) -> Any:
                log.append("begins")
                signal.pthread_kill(main, signal.SIGUSR1)
                released.wait(10)
                log.append("ends")
                return message

        class Next(Echo):
            def on_receive(self, message: Any) -> Any:
                log.append("next")

        def interrupt(*_: Any) -> None:
            raise Interrupted

        before = signal.signal(signal.SIGUSR1, interrupt)
        try:
            long, following = Long.start(), Next.start()
            manual.settle()
            long.tell("x")
            with pytest.raises(Interrupted):
                manual.settle()
            following.tell("x")
            threading.Timer(0.05, released.set).start()
            manual.settle()
            assert log == ["begins", "ends", "next"]
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            assert long.ask("again") == "again"
        finally:
            signal.signal(signal.SIGUSR1, before)
