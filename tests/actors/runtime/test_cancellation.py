"""Coroutines whose actor is stopped or killed while they wait."""

import contextlib
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    AskCycle,
    ChildSpec,
    Dispatcher,
    Future,
    GetChild,
    Supervisor,
)
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.waiting import Reentrant, Waiting, log_of


class TestCancellation:
    @pytest.mark.parametrize("kind", [Waiting, Reentrant])
    def test_kill_ends_a_waiting_handler_and_answers_its_asker(
        self, kind: type[Waiting], manual: ManualDispatcher
    ) -> None:
        ref, until = kind.start(), Future[None]()
        answer = ref.ask(until, block=False)
        manual.settle()
        log = log_of(ref)
        ref.kill()
        manual.settle()
        with pytest.raises(ActorDeadError):
            answer.get()
        assert log == ["begin", "end"], "its finally block ran"
        until.set(None)
        assert manual.settle() == 0, "nothing is resumed"

    def test_stop_of_a_reentrant_actor_ends_its_waiting_handlers(self, manual: ManualDispatcher) -> None:
        ref = Reentrant.start()
        answers = [ref.ask(Future[None](), block=False) for _ in range(10)]
        assert ref.stop() is True
        for answer in answers:
            with pytest.raises(ActorDeadError):
                answer.get()

    def test_stop_of_another_actor_waits_for_its_handler(self, manual: ManualDispatcher) -> None:
        ref, until = Waiting.start(), Future[str]()
        answer = ref.ask(until, block=False)
        stopping = ref.stop(block=False)
        manual.settle()
        assert not stopping.done
        until.set("done")
        assert stopping.get() is True
        assert answer.get() == "done"

    def test_a_closed_handler_that_asks_its_own_actor_gets_a_cycle(self, threads: Dispatcher) -> None:
        begun, caught = Future[None](), Future[BaseException]()

        class Asking(Actor):
            registered = False

            async def on_receive(self, message: Any) -> Any:
                if message == "ping":
                    return "pong"
                try:
                    begun.set(None)
                    await message
                finally:
                    try:
                        self.actor_ref.ask("ping")
                    except AskCycle as error:
                        caught.set(error)

        supervisor = Supervisor.start([ChildSpec("asking", Asking)])
        ref: ActorRef[Any] = supervisor.ask(GetChild("asking"))
        ref.tell(Future[None]())
        begun.get(timeout=10)
        ref.kill()
        assert isinstance(caught.get(timeout=10), AskCycle)
        assert ref.ask("ping", timeout=10) == "pong", "it lives again"
        assert supervisor.stop(timeout=10) is True

    def test_a_closed_handler_that_blocks_leaves_the_others_running(self, threads: Dispatcher) -> None:
        begun, blocked, going = Future[None](), Future[None](), Future[None]()

        class Blocking(Actor):
            registered = False

            async def on_receive(self, message: Any) -> None:
                try:
                    begun.set(None)
                    await message
                finally:
                    blocked.set(None)
                    going.get(timeout=10)

        ref, other = Blocking.start(), Waiting.start()
        answer = ref.ask(Future[None](), block=False)
        begun.get(timeout=10)
        ref.kill()
        blocked.get(timeout=10)
        assert other.ask("hello", timeout=5) == "hello"
        going.set(None)
        with pytest.raises(ActorDeadError):
            answer.get(timeout=10)

    def test_kill_overtakes_a_flood(self, threads: Dispatcher) -> None:
        seen: list[int] = []
        started, going = Future[None](), Future[None]()

        class Flooded(Actor):
            registered = False

            def on_receive(self, message: int) -> None:
                seen.append(message)
                if message == 0:
                    started.set(None)
                    going.get(timeout=10)

        ref = Flooded.start()
        last = [ref.ask(number, block=False) for number in range(100)][-1]
        started.get(timeout=10)
        ref.kill()
        going.set(None)
        with pytest.raises(ActorDeadError):
            last.get(timeout=10)
        assert seen == [0]

    def test_a_coroutine_that_does_not_let_itself_be_closed_is_reported(
        self, manual: ManualDispatcher, caplog: pytest.LogCaptureFixture
    ) -> None:
        class Stubborn(Actor):
            registered = False

            async def on_receive(self, message: Any) -> None:
                with contextlib.suppress(GeneratorExit):
                    await message
                await message

        ref = Stubborn.start()
        ref.tell(Future[None]())
        manual.settle()
        ref.kill()
        manual.settle()
        assert not ref.is_alive()
        assert "ignored GeneratorExit" in caplog.text

    def test_an_actor_can_kill_itself_with_nothing_else_in_its_mailbox(
        self, manual: ManualDispatcher
    ) -> None:
        class Suicidal(Actor):
            registered = False

            def on_receive(self, message: Any) -> str:
                self.actor_ref.kill()
                return "last words"

        ref = Suicidal.start()
        assert ref.ask("go") == "last words"
        manual.settle()
        assert not ref.is_alive()

    def test_a_reply_that_comes_before_the_handler_lets_go_resumes_it(self, manual: ManualDispatcher) -> None:
        class Hasty(Future[str]):
            """A future that is done as soon as somebody waits for it."""

            def add_done_callback(self, callback: Any) -> None:
                super().add_done_callback(callback)
                self.try_set("at once")

        assert Waiting.start().ask(Hasty()) == "at once"

    def test_kill_twice_and_kill_the_dead_does_nothing(self, manual: ManualDispatcher) -> None:
        ref = Waiting.start()
        ref.kill()
        ref.kill()
        manual.settle()
        ref.kill()
        assert manual.settle() == 0
        assert manual.dead_letters == 0
