"""Mailboxes: order, bounds and their policies, dead letters, counters, pinned actors."""

import contextlib
import gc
import threading
import time
import tracemalloc
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    ChildSpec,
    DeadLetter,
    Dispatcher,
    Future,
    GetChild,
    MailboxFull,
    MailboxPolicy,
    Supervisor,
)
from showcaller.actors.runtime.cell import SLICE
from showcaller.actors.runtime.testkit import ManualDispatcher, Probe, probe


class TestOrder:
    def test_mail_of_one_sender_is_handled_in_its_order_over_many_slices(
        self, manual: ManualDispatcher
    ) -> None:
        ref, got = probe()
        for number in range(3 * SLICE + 1):
            ref.tell(number)
        manual.settle()
        assert got == list(range(3 * SLICE + 1))

    def test_a_slice_yields_to_others_after_its_share(self, manual: ManualDispatcher) -> None:
        ref, got = probe()
        other, heard = probe()
        manual.settle()
        for number in range(2 * SLICE):
            ref.tell(number)
        other.tell("hello")
        manual.step()
        manual.step()
        assert (len(got), heard) == (SLICE, ["hello"])

    def test_what_kill_leaves_unhandled_is_not_counted_as_handled(self, manual: ManualDispatcher) -> None:
        class Suicidal(Actor):
            registered = False

            def on_receive(self, message: int) -> None:
                if message == 3:
                    self.actor_ref.kill()

        ref = Suicidal.start()
        for number in range(10):
            ref.tell(number)
        manual.settle()
        assert manual.counters()[Suicidal].messages == 5, "on_start and 0 to 3"
        assert manual.dead_letters == 6

    def test_mail_told_by_many_threads_arrives_once_and_in_order(self, threads: Dispatcher) -> None:
        everything: Future[list[tuple[int, int]]] = Future()

        class Collecting(Actor):
            registered = False

            def __init__(self) -> None:
                super().__init__()
                self.got: list[tuple[int, int]] = []

            def on_receive(self, message: tuple[int, int]) -> None:
                self.got.append(message)
                if len(self.got) == 8_000:
                    everything.set(self.got)

        ref = Collecting.start()

        def tell(sender: int) -> None:
            for number in range(2_000):
                ref.tell((sender, number))

        senders = [threading.Thread(target=tell, args=(sender,)) for sender in range(4)]
        for sender in senders:
            sender.start()
        got = everything.get(timeout=20)
        for who in range(4):
            assert [number for teller, number in got if teller == who] == list(range(2_000))


class Bounded(Probe):
    """Keeps what it gets; at most three messages wait."""

    mailbox_limit: ClassVar[int | None] = 3


class Newest(Bounded):
    """Drops what comes too late."""

    mailbox_policy: ClassVar[MailboxPolicy] = "drop_newest"


class Oldest(Bounded):
    """Drops what waits longest."""

    mailbox_policy: ClassVar[MailboxPolicy] = "drop_oldest"


def received(ref: ActorRef[Any]) -> list[Any]:
    """Look into a probe."""
    actor = ref._actor
    assert isinstance(actor, Probe)
    return actor.received


class TestBounded:
    def test_refuse_raises_in_the_sender(self, manual: ManualDispatcher) -> None:
        ref = Bounded.start()
        for number in range(3):
            ref.tell(number)
        with pytest.raises(MailboxFull, match="mailbox_limit of messages wait"):
            ref.tell(3)
        with pytest.raises(MailboxFull):
            ref.ask(4)
        manual.settle()
        ref.tell(5)
        manual.settle()
        assert received(ref) == [0, 1, 2, 5]
        assert manual.dead_letters == 0

    def test_drop_newest_keeps_what_is_there(self, manual: ManualDispatcher) -> None:
        ref = Newest.start()
        for number in range(5):
            ref.tell(number)
        with pytest.raises(MailboxFull):
            ref.ask("asked")
        manual.settle()
        assert received(ref) == [0, 1, 2]
        assert manual.dead_letters == 2

    def test_drop_oldest_makes_room(self, manual: ManualDispatcher) -> None:
        ref = Oldest.start()
        asked = ref.ask("asked", block=False)
        for number in range(5):
            ref.tell(number)
        assert asked.done
        with pytest.raises(MailboxFull):
            asked.get()
        manual.settle()
        assert received(ref) == [2, 3, 4]
        assert manual.dead_letters == 2

    def test_an_order_to_stop_always_finds_room(self, manual: ManualDispatcher) -> None:
        ref = Bounded.start()
        for number in range(3):
            ref.tell(number)
        got = received(ref)
        assert ref.stop() is True
        assert got == [0, 1, 2]

    @pytest.mark.parametrize("kind", [Bounded, Newest, Oldest])
    def test_a_dead_one_refuses_as_others_do(self, kind: type[Bounded], manual: ManualDispatcher) -> None:
        ref = kind.start()
        ref.stop()
        with pytest.raises(ActorDeadError):
            ref.tell("x")
        with pytest.raises(ActorDeadError):
            ref.ask("x")

    def test_a_limit_below_one_is_refused(self) -> None:
        with pytest.raises(ValueError, match="at least 1"):
            type("None", (Actor,), {"mailbox_limit": 0})

    def test_a_supervised_one_is_bounded_too(self, manual: ManualDispatcher) -> None:
        ref: ActorRef[Any] = Supervisor.start([ChildSpec("bounded", Bounded)]).ask(GetChild("bounded"))
        for number in range(3):
            ref.tell(number)
        with pytest.raises(MailboxFull):
            ref.tell(3)

    @given(steps=st.lists(st.integers(-1, 3), max_size=60), policy=st.sampled_from([Bounded, Newest, Oldest]))
    def test_it_behaves_as_a_short_list(self, steps: list[int], policy: type[Bounded]) -> None:
        """A step below 0 lets the actor handle one message; another one tells a message."""
        with ManualDispatcher() as manual:
            ref = policy.start()
            manual.settle()
            waiting: list[int] = []
            handled: list[int] = []
            for number, step in enumerate(steps):
                if step < 0:
                    manual.step()
                    handled += waiting[:1]
                    waiting = waiting[1:]
                    continue
                refused = model_of(policy.mailbox_policy, waiting, number)
                with pytest.raises(MailboxFull) if refused else contextlib.nullcontext():
                    ref.tell(number)
            assert received(ref) == handled
            manual.settle()
            assert received(ref) == handled + waiting

    @pytest.mark.parametrize("kind", [Newest, Oldest])
    def test_threads_lose_no_message_without_a_dead_letter(
        self, kind: type[Bounded], threads: Dispatcher
    ) -> None:
        ref = kind.start()
        got = received(ref)

        def tell() -> None:
            for number in range(2_000):
                ref.tell(number)

        senders = [threading.Thread(target=tell) for _ in range(3)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        ref.stop()
        assert threads.wait_quiet(10)
        assert len(got) + threads.dead_letters == 6_000


def model_of(policy: MailboxPolicy, waiting: list[int], number: int) -> bool:
    """Do to a list what the policy does to a mailbox of three; True when the sender is refused."""
    if len(waiting) < 3:
        waiting.append(number)
    elif policy == "drop_oldest":
        waiting[:] = [*waiting[1:], number]
    return len(waiting) == 3 and policy == "refuse" and waiting[-1] != number


class TestDeadLetters:
    def test_what_is_told_in_vain_is_counted_and_told_to_who_watches(self, manual: ManualDispatcher) -> None:
        watcher, got = probe()
        manual.watch_dead_letters(watcher)
        ref, _ = probe()
        stopping = ref.stop(block=False)
        ref.tell("in vain")
        manual.settle()
        assert stopping.get() is True
        assert got == [DeadLetter(ref, "in vain")]
        assert manual.dead_letters == 1
        manual.unwatch_dead_letters(watcher)
        again, _ = probe()
        again.stop(block=False)
        again.tell("in vain")
        manual.settle()
        assert len(got) == 1

    def test_a_dead_watcher_is_forgotten(self, manual: ManualDispatcher) -> None:
        watcher, _ = probe()
        manual.watch_dead_letters(watcher)
        watcher.stop()
        ref, _ = probe()
        ref.stop(block=False)
        ref.tell("in vain")
        manual.settle()
        assert manual._undertakers == {}

    def test_an_ask_is_answered_and_is_no_dead_letter(self, manual: ManualDispatcher) -> None:
        ref, _ = probe()
        ref.stop(block=False)
        answer = ref.ask("hello", block=False)
        manual.settle()
        with pytest.raises(ActorDeadError):
            answer.get()
        assert manual.dead_letters == 0


class TestCounters:
    def test_each_class_is_counted_for_itself(self, manual: ManualDispatcher) -> None:
        class Failing(Probe):
            def on_receive(self, message: Any) -> None:
                raise ValueError(message)

        supervisor = Supervisor.start([ChildSpec("failing", Failing)])
        supervisor.ask(GetChild("failing")).tell("x")
        ref, _ = probe()
        for number in range(1_000):
            ref.tell(number)
        manual.settle()
        counters = manual.counters()
        assert counters[Probe].messages == 1_001
        assert counters[Probe].high_water == 1_001
        assert (counters[Failing].failures, counters[Failing].restarts) == (1, 1)
        assert counters[Failing].messages == 1

    def test_the_seconds_of_handlers_are_those_of_the_clock(self) -> None:
        class Busy(Actor):
            registered = False

            def on_receive(self, message: float) -> None:
                end = time.monotonic() + message
                while time.monotonic() < end:
                    pass

        with Dispatcher(name="counted") as dispatcher:
            ref = Busy.start()
            ref.ask(0.05)
            assert dispatcher.wait_quiet(10)
            assert dispatcher.counters()[Busy].seconds >= 0.05
        dispatcher.close()


class TestPinned:
    def test_it_has_a_thread_of_its_own_that_ends_with_it(self, threads: Dispatcher) -> None:
        class Pinned(Actor):
            registered = False
            pinned = True

            def on_receive(self, message: Any) -> threading.Thread:
                return threading.current_thread()

        one, two = Pinned.start(), Pinned.start()
        first, second = one.ask("who?"), two.ask("who?")
        assert first is one.ask("who?")
        assert first is not second
        assert first.name == "test-Pinned"
        one.stop()
        first.join(10)
        assert not first.is_alive()
        with pytest.raises(ActorDeadError):
            one.ask("who?")
        assert threads.counters()[Pinned].messages >= 4

    def test_what_it_starts_runs_at_home(self, threads: Dispatcher) -> None:
        class Pinned(Actor):
            registered = False
            pinned = True

            def on_receive(self, message: Any) -> ActorRef[Any]:
                return Probe.start()

        pinned = Pinned.start()
        assert pinned.ask("start one").dispatcher is threads
        pinned.stop()

    def test_it_blocks_nobody(self, threads: Dispatcher) -> None:
        over = threading.Event()

        class Blocking(Actor):
            registered = False
            pinned = True

            def on_receive(self, message: Any) -> None:
                over.wait(20)

        blocking = Blocking.start()
        for _ in range(3):
            blocking.tell("block")
        ref, _ = probe()
        assert ref.ask("hello", timeout=10) is None
        assert not threads.wait_quiet(0.01)
        over.set()
        assert threads.wait_quiet(10)
        blocking.stop()

    def test_on_the_manual_dispatcher_it_runs_there(self, manual: ManualDispatcher) -> None:
        class Pinned(Actor):
            registered = False
            pinned = True

            def on_receive(self, message: Any) -> threading.Thread:
                return threading.current_thread()

        assert Pinned.start().ask("who?") is threading.current_thread()

    def test_a_pinned_actor_may_wait_with_a_coroutine(self, threads: Dispatcher) -> None:
        class Pinned(Actor):
            registered = False
            pinned = True

            async def on_receive(self, message: Any) -> Any:
                return await message.request("hello") if isinstance(message, ActorRef) else message

        pinned, other = Pinned.start(), Pinned.start()
        assert pinned.ask(other, timeout=10) == "hello"
        pinned.stop()
        other.stop()


class TestSize:
    def test_an_idle_actor_is_small(self) -> None:
        class Idle(Actor):
            registered = False

        with ManualDispatcher() as manual:
            for _ in range(100):
                Idle.start()
            manual.settle()
            gc.collect()
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
            refs = [Idle.start() for _ in range(20_000)]
            manual.settle()
            each = (tracemalloc.get_traced_memory()[0] - before) / len(refs)
            tracemalloc.stop()
        assert each <= 500
