"""Sleeping in a handler: time that a test moves, and nobody who waits for the sleeper's thread."""

import asyncio
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, Dispatcher, DispatcherClosed, ForeignAwaitable
from showcaller.actors.runtime import sleep as pause
from showcaller.actors.runtime.testkit import ManualDispatcher, probe
from showcaller.actors.runtime.timers import INBOX


class Sleeper(Actor):
    """Tells its owner that it wakes up."""

    registered = False

    def __init__(self, owner: Any) -> None:
        super().__init__()
        self.owner = owner

    async def on_receive(self, message: float) -> str:
        await pause(message)
        self.owner.tell(f"slept {message:g}")
        return "awake"


def test_a_handler_sleeps_on_the_clock_that_a_test_moves(manual: ManualDispatcher) -> None:
    owner, heard = probe()
    sleeper = Sleeper.start(owner)
    sleeper.tell(60)
    sleeper.tell(5)
    manual.advance(59)
    assert heard == []
    manual.advance(1)
    assert heard == ["slept 60"]
    manual.advance(5)
    assert heard == ["slept 60", "slept 5"]


def test_no_time_at_all_lets_the_others_go_first(manual: ManualDispatcher) -> None:
    owner, heard = probe()
    Sleeper.start(owner).tell(0)
    owner.tell("other")
    manual.settle()
    assert heard == ["other", "slept 0"]
    assert manual.clock.monotonic() == 0


def test_it_is_done_on_real_threads_and_outside_of_handlers(threads: Dispatcher) -> None:
    owner, _ = probe()
    assert Sleeper.start(owner).ask(0.001, timeout=10) == "awake"
    pause(0.001).get(timeout=10)


def test_an_asyncio_program_can_await_it(threads: Dispatcher) -> None:
    async def main() -> None:
        await pause(0.001)

    asyncio.run(main())


def test_who_sleeps_on_a_dispatcher_that_is_closed_is_told() -> None:
    dispatcher = Dispatcher(name="test")
    with dispatcher:
        slept = pause(3600)
    dispatcher.close()
    with pytest.raises(DispatcherClosed, match="closed before 3600 seconds had passed"):
        slept.get(timeout=10)
    with dispatcher, pytest.raises(DispatcherClosed):
        pause(1).get(timeout=10)


@pytest.mark.parametrize("seconds", ["1", None, float("inf"), float("nan")])
def test_what_is_no_time_is_refused(manual: ManualDispatcher, seconds: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="a timer must be due in fewer than"):
        pause(seconds)


def test_who_awaits_the_sleep_of_asyncio_is_told_of_ours(manual: ManualDispatcher) -> None:
    class Wrong(Actor):
        registered = False

        async def on_receive(self, message: Any) -> None:
            theirs = asyncio.sleep
            await theirs(1)

    with pytest.raises(ForeignAwaitable, match=r"instead of asyncio\.sleep await sleep\(seconds\)"):
        Wrong.start().ask("x")


class Shares(Actor):
    """Waits for what it gets."""

    registered = False

    async def on_receive(self, message: Any) -> Any:
        await message


class TestSleepersThatAreKilled:
    def test_they_leave_no_timers(self, manual: ManualDispatcher) -> None:
        owner, _ = probe()
        sleepers = [Sleeper.start(owner) for _ in range(3 * INBOX)]
        for sleeper in sleepers:
            sleeper.tell(86_400)
        manual.settle()
        assert len(manual.timers) == len(sleepers)
        for sleeper in sleepers:
            sleeper.kill()
        manual.settle()
        assert len(manual.timers) <= INBOX

    def test_who_shares_the_sleep_wakes_in_time(self, manual: ManualDispatcher) -> None:
        slept = pause(60)
        killed, other = Shares.start(), Shares.start()
        killed.tell(slept)
        woken = other.request(slept)
        manual.settle()
        killed.kill()
        manual.advance(59)
        assert not woken.done
        manual.advance(1)
        assert woken.done

    def test_who_waits_for_it_later_wakes_in_time(self, manual: ManualDispatcher) -> None:
        slept = pause(60)
        killed = Shares.start()
        killed.tell(slept)
        manual.settle()
        killed.kill()
        manual.advance(20)
        woken = Shares.start().request(slept)
        manual.advance(39)
        assert not woken.done
        manual.advance(1)
        assert woken.done

    def test_who_only_looks_sees_its_end(self, manual: ManualDispatcher) -> None:
        slept = pause(60)
        killed = Shares.start()
        killed.tell(slept)
        manual.settle()
        killed.kill()
        manual.advance(59)
        assert not slept.done
        manual.advance(1)
        assert slept.done
