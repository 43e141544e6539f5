"""Handlers that block under a manual dispatcher, in graphs of asks without a cycle."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, ActorRef, AskCycle, Future, Timeout
from showcaller.actors.runtime.testkit import ManualDispatcher, NothingToRun, probe

Deed = Callable[[], Any]


class Doing(Actor):
    """Does what it is sent, and answers with what comes of it."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        return message() if callable(message) else message


class Listed(Doing):
    """The same, in the public registry."""

    registered = True


def ask(ref: ActorRef[Any], message: Any) -> Deed:
    return lambda: ref.ask(message)


class TestNested:
    def test_who_asks_an_actor_that_waits_gets_its_reply(self, manual: ManualDispatcher) -> None:
        a, b, c = Doing.start(), Doing.start(), Doing.start()
        first = a.request(ask(b, "b"))
        second = c.request(ask(a, "a"))
        manual.settle()
        assert (first.get(), second.get()) == ("b", "a")

    def test_no_time_passes_while_a_handler_can_go_on(self, manual: ManualDispatcher) -> None:
        a, b, c = Doing.start(), Doing.start(), Doing.start()
        ref, got = probe()
        ref.tell_after(3600, "late")
        a.tell(ask(b, "b"))
        c.tell(ask(a, "a"))
        manual.settle()
        assert (manual.clock.monotonic(), got) == (0.0, [])

    def test_many_that_wait_for_one_another_go_on(self, manual: ManualDispatcher) -> None:
        refs = [Doing.start() for _ in range(50)]
        replies = [refs[0].request(ask(Doing.start(), 0))]
        replies += [refs[number].request(ask(refs[number - 1], number)) for number in range(1, 50)]
        assert [reply.get() for reply in replies] == [0, *range(1, 50)]

    @pytest.mark.parametrize("seed", range(20))
    def test_a_seed_gives_the_same_order_each_time(self, seed: int) -> None:
        def play() -> list[Any]:
            order: list[Any] = []
            draw = random.Random(seed)
            with ManualDispatcher(seed=seed) as manual:
                refs = [Doing.start() for _ in range(12)]

                def deed(depth: int) -> Deed:
                    number, lower = draw.randrange(1_000), draw.randrange(depth) if depth else None

                    def do() -> int:
                        order.append(number)
                        if lower is not None:
                            refs[lower].ask(deed(lower))
                        order.append(-number)
                        return number

                    return do

                replies = [refs[depth].request(deed(depth)) for depth in (11, 3, 7, 9, 5, 10, 1, 8)]
                manual.settle()
                assert all(reply.done for reply in replies)
                assert not manual._stacks.waits
            return order

        assert play() == play()


class TestTimeouts:
    def wait(self, manual: ManualDispatcher, seconds: float) -> Deed:
        """Wait in vain, and tell when that ended."""

        def do() -> float:
            with pytest.raises(Timeout):
                Future[None]().get(timeout=seconds)
            return manual.clock.monotonic()

        return do

    def test_each_waits_as_long_as_it_said(self, manual: ManualDispatcher) -> None:
        replies = [Doing.start().request(self.wait(manual, seconds)) for seconds in (5, 1, 3)]
        manual.settle()
        assert [reply.get() for reply in replies] == [5.0, 1.0, 3.0]

    def test_who_waits_from_outside_gives_up_before_a_handler_that_waits_longer(
        self, manual: ManualDispatcher
    ) -> None:
        a, b, c = Doing.start(), Doing.start(), Doing.start()
        manual.settle()
        first = a.request(ask(b, "there"))
        longer = c.request(self.wait(manual, 60))
        with pytest.raises(Timeout):
            Future[None]().get(timeout=5)
        assert (first.done, longer.done, manual.clock.monotonic()) == (True, False, 5.0)
        assert longer.get() == 60.0


class TestNothingLeft:
    def test_a_test_that_waits_for_what_never_comes_is_told_and_the_others_go_on(
        self, manual: ManualDispatcher
    ) -> None:
        a, b = Doing.start(), Doing.start()
        never = a.request(Future[None]().get)
        other = b.request(ask(Doing.start(), "there"))
        manual.settle()
        with pytest.raises(NothingToRun):
            never.get()
        assert other.get() == "there"
        with pytest.raises(NothingToRun):
            a.ask("again")

    def test_a_cycle_is_still_found(self, manual: ManualDispatcher) -> None:
        a, b = Doing.start(), Doing.start()
        reply = a.request(lambda: b.ask(ask(a, "back")))
        with pytest.raises(AskCycle):
            reply.get()


def test_a_handler_may_settle_the_dispatcher_itself(manual: ManualDispatcher) -> None:
    a, b, c, d = (Doing.start() for _ in range(4))
    first = a.request(ask(b, "b"))
    second = c.request(ask(a, "a"))
    third = d.request(lambda: (manual.settle(), second.done)[1])
    manual.settle()
    assert (first.get(), second.get(), third.get()) == ("b", "a", True)


def test_an_interrupt_of_a_handler_that_helped_stops_all_actors(manual: ManualDispatcher) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    a, b, listed = Doing.start(), Doing.start(), Listed.start()
    reply = a.request(ask(b, interrupt))
    manual.settle()
    with pytest.raises(KeyboardInterrupt):
        reply.get()
    assert not listed.is_alive()
