"""Replies that come in time or too late, are kept for later, or are handed on to another actor."""

from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    Future,
    ReplyOverdue,
    Timeout,
    take_reply,
)
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.waiting import Waiting


class TestTimeouts:
    def test_a_request_ends_in_a_timeout_and_a_late_reply_is_counted(self, manual: ManualDispatcher) -> None:
        ref, until = Waiting.start(), Future[str]()
        answer = ref.request(until, timeout=5)
        manual.advance(5)
        with pytest.raises(Timeout, match="5 seconds"):
            answer.get()
        until.set("late")
        manual.settle()
        assert manual.late_replies == 1

    def test_a_reply_in_time_is_not_late(self, manual: ManualDispatcher) -> None:
        answer = Waiting.start().request("soon", timeout=5)
        manual.advance(10)
        assert answer.get() == "soon"
        assert manual.late_replies == 0
        assert manual.timers.next_due() is None

    def test_who_answers_later_may_be_late_without_harm(self, manual: ManualDispatcher) -> None:
        kept: list[Future[Any]] = []

        class Later(Actor):
            registered = False

            def on_receive(self, message: Any) -> None:
                reply = take_reply()
                assert reply is not None
                kept.append(reply)

        answer = Later.start().request("when?", timeout=1)
        manual.advance(2)
        kept[0].set("now")
        assert manual.late_replies == 1
        with pytest.raises(ReplyOverdue):
            answer.get()

    def test_a_handler_sees_the_timeout_of_its_request(self, manual: ManualDispatcher) -> None:
        class Impatient(Actor):
            registered = False

            async def on_receive(self, message: ActorRef[Any]) -> str:
                try:
                    await message.request(Future[None](), timeout=3)
                except Timeout:
                    return f"at {self.actor_ref.dispatcher.clock.monotonic():g} s"
                return "answered"

        assert Impatient.start().ask(Waiting.start()) == "at 3 s"

    def test_an_error_after_the_reply_was_taken_fails_the_actor(self, manual: ManualDispatcher) -> None:
        class Taker(Actor):
            registered = False

            def on_receive(self, message: Any) -> None:
                take_reply()
                raise ValueError("nobody would hear of it")

        ref = Taker.start()
        ref.ask("x", block=False)
        manual.settle()
        assert not ref.is_alive()


class TestForwarding:
    def test_a_forwarded_reply_comes_from_the_other(self, manual: ManualDispatcher) -> None:
        class Desk(Actor):
            registered = False

            def on_receive(self, message: ActorRef[Any]) -> None:
                message.forward("forwarded", take_reply())

        assert Desk.start().ask(Waiting.start()) == "forwarded"

    def test_to_a_dead_actor_it_is_answered_with_the_death(self, manual: ManualDispatcher) -> None:
        class Desk(Actor):
            registered = False

            def on_receive(self, message: ActorRef[Any]) -> None:
                message.forward("forwarded", take_reply())

        dead = Waiting.start()
        dead.stop()
        with pytest.raises(ActorDeadError):
            Desk.start().ask(dead)
