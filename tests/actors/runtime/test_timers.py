"""Timers: once, repeated, by the wall clock; cancelled, many, and raced."""

import gc
import math
import sys
import threading
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.runtime import Actor, Dispatcher, Future, Timer
from showcaller.actors.runtime.clock import SystemClock
from showcaller.actors.runtime.testkit import ManualClock, ManualDispatcher, probe
from tests.actors.runtime.test_blocking import until


class TestOnce:
    def test_it_fires_when_its_time_has_come_and_not_before(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        timer = ref.tell_after(10, "now")
        manual.advance(9.999)
        assert (got, timer.active) == ([], True)
        manual.advance(0.001)
        assert (got, timer.active) == (["now"], False)

    @pytest.mark.parametrize("seconds", [0, -5])
    def test_the_past_is_now(self, seconds: float, manual: ManualDispatcher) -> None:
        ref, got = probe()
        ref.tell_after(seconds, "now")
        manual.settle()
        assert got == ["now"]

    @pytest.mark.parametrize("seconds", [math.nan, math.inf, 1e300])
    def test_a_time_that_never_comes_is_refused(self, seconds: float, manual: ManualDispatcher) -> None:
        ref, _ = probe()
        with pytest.raises(ValueError, match="must be due in fewer than"):
            ref.tell_after(seconds, "never")

    def test_a_dead_actor_is_no_fault(self, manual: ManualDispatcher) -> None:
        ref, _ = probe()
        ref.tell_after(1, "late")
        ref.stop()
        manual.advance(2)
        assert len(manual.timers) == 0

    @given(delays=st.lists(st.floats(0, 100), max_size=40))
    def test_they_fire_in_order_of_time_and_then_of_making(self, delays: list[float]) -> None:
        with ManualDispatcher() as manual:
            ref, got = probe()
            for number, delay in enumerate(delays):
                ref.tell_after(delay, (delay, number))
            manual.advance(100)
            assert got == sorted((delay, number) for number, delay in enumerate(delays))


class TestRepeated:
    def test_it_does_not_drift(self, manual: ManualDispatcher) -> None:
        times: list[float] = []

        class Ticking(Actor):
            registered = False

            def on_receive(self, message: str) -> None:
                times.append(manual.clock.monotonic())
                # Late by a little each time, as a real dispatcher is.
                manual.manual_clock.move_to(manual.clock.monotonic() + 0.01)

        timer = Ticking.start().tell_every(1, "tick")
        manual.advance(100.5)
        assert len(times) == 100
        assert times == pytest.approx([float(second) for second in range(1, 101)], abs=0.02)
        assert timer.cancel() is True
        manual.advance(10)
        assert len(times) == 100

    def test_what_was_missed_is_left_out(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        ref.tell_every(1, "tick")
        manual.manual_clock.move_to(10.5)
        manual.settle()
        assert got == ["tick"]
        manual.advance(0.5)
        assert got == ["tick", "tick"]

    @pytest.mark.parametrize("seconds", [0, -1, math.nan])
    def test_no_time_between_is_refused(self, seconds: float, manual: ManualDispatcher) -> None:
        ref, _ = probe()
        with pytest.raises(ValueError, match="an interval must be above 0"):
            ref.tell_every(seconds, "tick")

    def test_it_ends_with_its_actor(self, manual: ManualDispatcher) -> None:
        ref, _ = probe()
        timer = ref.tell_every(1, "tick")
        ref.stop()
        manual.advance(3)
        assert not timer.active
        assert manual.timers.next_due() is None


class TestWallClock:
    def test_it_fires_at_a_time_of_day(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        ref.tell_at(manual.clock.wall() + 60_000, "then")
        manual.advance(59)
        assert got == []
        manual.advance(1)
        assert got == ["then"]

    def test_a_jump_forward_brings_it_near(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        ref.tell_at(manual.clock.wall() + 3_600_000, "then")
        manual.manual_clock.set_wall(manual.clock.wall() + 3_590_000)
        manual.advance(9)
        assert got == []
        manual.advance(1)
        assert got == ["then"]

    def test_a_jump_back_puts_it_off(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        ref.tell_at(manual.clock.wall() + 60_000, "then")
        ref.tell_after(60, "monotonic")
        manual.advance(50)
        manual.manual_clock.set_wall(manual.clock.wall() - 50_000)
        manual.advance(59)
        assert got == ["monotonic"]
        manual.advance(1)
        assert got == ["monotonic", "then"]

    def test_timers_made_after_a_jump_back_keep_their_order(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        start = manual.clock.wall()
        manual.advance(1_000)
        ref.tell_at(start + 1_000_000, "first of all")
        manual.settle()
        manual.manual_clock.set_wall(start)
        for minute in (3, 1, 2):
            ref.tell_at(start + 60_000 * minute, minute)
        manual.advance(300)
        assert got == ["first of all", 1, 2, 3]

    def test_a_sleeping_dispatcher_notices_a_jump(self) -> None:
        class Jumping(ManualClock):
            """Real monotonic time, and a wall clock set by hand."""

            def monotonic(self) -> float:
                return time.monotonic()

            def wall(self) -> int:
                return self._wall

        clock = Jumping()
        fired: Future[str] = Future()

        class Waiting(Actor):
            registered = False

            def on_receive(self, message: str) -> None:
                fired.set(message)

        with Dispatcher(name="jumps", clock=clock, wall_check=0.02) as dispatcher:
            Waiting.start().tell_at(clock.wall() + 3_600_000, "then")
            assert dispatcher.wait_quiet(10)
            assert not fired.done
            clock._wall += 3_600_000
            assert fired.get(timeout=10) == "then"
        dispatcher.close()


class TestCancelling:
    def test_a_cancelled_timer_does_not_fire(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        timer = ref.tell_after(1, "never")
        assert timer.cancel() is True
        assert timer.cancel() is False
        manual.advance(2)
        assert got == []

    def test_one_that_has_fired_cannot_be_cancelled(self, manual: ManualDispatcher) -> None:
        ref, _ = probe()
        timer = ref.tell_after(1, "now")
        manual.advance(1)
        assert timer.cancel() is False

    def test_cancelled_ones_do_not_pile_up(self, manual: ManualDispatcher) -> None:
        ref, _ = probe()
        keep = [ref.tell_after(1_000, "kept") for _ in range(100)]
        for _ in range(50_000):
            ref.tell_after(3_600, "cancelled").cancel()
            assert len(manual.timers) < 5_000
        assert all(timer.active for timer in keep)

    def test_a_cancelled_timer_holds_its_message_no_longer(self, manual: ManualDispatcher) -> None:
        ref, _ = probe()
        timer = ref.tell_after(3_600, object())
        timer.cancel()
        assert timer._message is None

    def test_of_firing_and_cancelling_at_once_exactly_one_wins(self, threads: Dispatcher) -> None:
        counted: Future[list[int]] = Future()

        class Counting(Actor):
            registered = False

            def __init__(self) -> None:
                super().__init__()
                self.got: list[int] = []

            def on_receive(self, message: int) -> None:
                if message < 0:
                    counted.set(self.got)
                else:
                    self.got.append(message)

        ref = Counting.start()
        cancelled: list[int] = []
        for number in range(2_000):
            timer = ref.tell_after(0.0002, number)
            if number % 3:
                end = time.monotonic() + 0.0002
                while time.monotonic() < end:
                    pass
            if timer.cancel():
                cancelled.append(number)
        ref.tell_after(0.05, -1)
        got = counted.get(timeout=20)
        assert sorted(got + cancelled) == list(range(2_000))


class TestMany:
    def test_100_000_fit_into_150_bytes_each(self) -> None:
        with ManualDispatcher() as manual:
            ref, _ = probe()
            gc.collect()
            before = allocated()
            timers = [ref.tell_after(1 + number / 1_000, None) for number in range(100_000)]
            manual.timers.next_look()
            each = (allocated() - before) / len(timers) - 8.9  # without our own list of them
            assert each <= 150
            assert len(manual.timers) == 100_000

    def test_30_000_fire_in_order(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        for number in range(30_000):
            ref.tell_after(number % 977 / 100, number)
        manual.advance(10)
        assert got == sorted(range(30_000), key=lambda number: (number % 977, number))

    def test_timers_made_by_many_threads_all_fire(self, threads: Dispatcher) -> None:
        everyone: Future[int] = Future()

        class Counting(Actor):
            registered = False
            count = 0

            def on_receive(self, message: int) -> None:
                self.count += 1
                if self.count == 4_000:
                    everyone.set(self.count)

        ref = Counting.start()

        def make() -> None:
            for number in range(1_000):
                ref.tell_after(number % 10 / 1_000, number)

        makers = [threading.Thread(target=make) for _ in range(4)]
        for maker in makers:
            maker.start()
        for maker in makers:
            maker.join()
        assert everyone.get(timeout=20) == 4_000

    def test_a_sleeping_dispatcher_wakes_for_an_earlier_timer(self, threads: Dispatcher) -> None:
        fired: Future[str] = Future()

        class Once(Actor):
            registered = False

            def on_receive(self, message: str) -> None:
                fired.set(message)

        ref = Once.start()
        far: Timer = ref.tell_after(3_600, "far")
        assert threads.wait_quiet(10)
        ref.tell_after(0.01, "near")
        assert fired.get(timeout=10) == "near"
        far.cancel()


def allocated() -> int:
    """Give the bytes that live objects take, as the interpreter counts them."""
    if not tracemalloc.is_tracing():
        tracemalloc.start()
    return tracemalloc.get_traced_memory()[0]


def test_the_measure_of_memory_counts() -> None:
    before = allocated()
    kept: Any = bytearray(1_000_000)
    assert allocated() - before >= sys.getsizeof(kept) - 1_000
    tracemalloc.stop()


class TestWallTimersThatAreGone:
    def test_the_wall_clock_is_followed_only_while_one_is_active(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        start = manual.clock.wall()
        timers = [ref.tell_at(start + 1_000 * number, number) for number in (1, 2, 3)]
        assert timers[2].cancel()
        manual.advance(1)
        assert (got, manual.timers.follow_wall) == ([1], True)
        assert not timers[0].cancel()
        assert timers[1].cancel()
        assert not timers[1].cancel()
        assert (manual.timers.follow_wall, len(manual.timers)) == (False, 0)
        ref.tell_at(start + 5_000, 5)
        assert manual.timers.follow_wall
        manual.advance(5)
        assert (got, manual.timers.follow_wall) == ([1, 5], False)

    def test_a_cancelled_one_wakes_an_idle_dispatcher_no_more(self) -> None:
        looks: list[int] = []

        class Counted(SystemClock):
            def wall(self) -> int:
                looks.append(1)
                return super().wall()

        clock = Counted()
        with Dispatcher(name="wall", clock=clock, wall_check=0.005) as dispatcher:
            ref, _ = probe()
            timer = ref.tell_at(clock.wall() + 10**9, "far")
            assert until(lambda: len(looks) > 5)
            assert timer.cancel()
            assert until(lambda: dispatcher.timers.wakes_at == math.inf)
            ref.ask("x", timeout=10)
            before = len(looks)
            threading.Event().wait(0.1)
            assert len(looks) == before
            dispatcher.close()

    @pytest.mark.parametrize("wall", [math.nan, math.inf, -math.inf, 10**400, 1e300])
    def test_a_time_that_no_clock_shows_is_refused_and_not_held(
        self, wall: Any, manual: ManualDispatcher
    ) -> None:
        ref, _ = probe()
        with pytest.raises(ValueError, match="a wall clock shows fewer than"):
            ref.tell_at(wall, "never")
        assert (len(manual.timers), manual.timers.follow_wall) == (0, False)
