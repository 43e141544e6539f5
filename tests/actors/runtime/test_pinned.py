"""Pinned actors: a thread of their own, and nobody else held up."""

import threading
from typing import Any

import pytest

from showcaller.actors.runtime import (
    SYSTEM_CLOCK,
    Actor,
    ActorDeadError,
    ActorRef,
    ActorRegistry,
    BaseDispatcher,
    Dispatcher,
    Future,
    Timeout,
    take_reply,
)
from showcaller.actors.runtime.testkit import ManualDispatcher, Probe, probe


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

    def test_its_dispatcher_tells_what_every_dispatcher_tells(self, threads: Dispatcher) -> None:
        class Pinned(Actor):
            registered = False
            pinned = True

            def on_receive(self, message: Any) -> None:
                take_reply()

        ref = Pinned.start()
        with pytest.raises(Timeout):
            ref.request("no answer", timeout=0.001).get()
        every = BaseDispatcher(SYSTEM_CLOCK)
        public = [name for name in dir(every) if not name.startswith("_")]
        assert {"clock", "dead_letters", "late_replies", "timers"} <= set(public)
        assert [name for name in public if not hasattr(ref.dispatcher, name)] == []
        threads.late_reply()
        threads.dead_letter(ref, "lost")
        assert (ref.dispatcher.dead_letters, ref.dispatcher.late_replies) == (1, 1)
        ref.stop()

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

    def test_on_the_manual_dispatcher_each_has_a_thread_of_its_own(self, manual: ManualDispatcher) -> None:
        class Pinned(Actor):
            registered = False
            pinned = True

            def on_receive(self, message: Any) -> threading.Thread:
                if isinstance(message, Future):
                    message.get()
                return threading.current_thread()

        one, two, wanted = Pinned.start(), Pinned.start(), Future[None]()
        first = one.ask("who?")
        again = one.request(wanted)
        manual.settle()
        assert two.ask("who?") is two.ask("who?") is not first
        wanted.set()
        assert again.get() is one.ask("who?") is first
        one.stop()
        assert two.ask("who?") is not first

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

    def test_a_start_interrupted_while_its_thread_begins_makes_no_second_thread(
        self, threads: Dispatcher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Pinned(Actor):
            pinned = True

            def on_receive(self, message: Any) -> Any:
                return message

        def its_threads() -> list[threading.Thread]:
            return [thread for thread in threading.enumerate() if thread.name == "test-Pinned"]

        def interrupted(event: threading.Event, timeout: float | None = None) -> bool:
            waited = wait(event, timeout)
            if threading.current_thread() is interrupted_thread:
                raise KeyboardInterrupt
            return waited

        wait, interrupted_thread = threading.Event.wait, threading.current_thread()
        with monkeypatch.context() as patch:
            patch.setattr(threading.Event, "wait", interrupted)
            with pytest.raises(KeyboardInterrupt):
                Pinned.start()
        (ref,) = ActorRegistry.get_by_class(Pinned)
        assert ref.ask("asked", timeout=10.0) == "asked"
        assert ref.stop(timeout=10.0)
        for thread in its_threads():
            thread.join(10.0)
        assert not its_threads()
