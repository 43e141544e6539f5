"""Mailboxes: order and slices, dead letters, and the size of an idle actor."""

import gc
import threading
import tracemalloc

import pytest

from showcaller.actors.runtime import Actor, ActorDeadError, DeadLetter, Dispatcher, Future
from showcaller.actors.runtime.cell import SLICE
from showcaller.actors.runtime.testkit import ManualDispatcher, probe


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
