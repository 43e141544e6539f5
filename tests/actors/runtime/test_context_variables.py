"""A coroutine as a handler has context variables of its own, as an asyncio task has."""

import decimal
from contextvars import ContextVar
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, Dispatcher, Future
from showcaller.actors.runtime.testkit import ManualDispatcher

WHO: "ContextVar[Any]" = ContextVar("who", default="nobody")


class Setting(Actor):
    """Sets both to what it is sent, and tells after a wait what it finds."""

    registered = False

    def __init__(self, gate: Future[None]) -> None:
        super().__init__()
        self.gate = gate
        self.at_the_end: Any = None

    async def on_receive(self, message: int) -> Any:
        with decimal.localcontext() as context:
            context.prec = message
            WHO.set(message)
            try:
                await self.gate
            finally:
                self.at_the_end = WHO.get()
            return WHO.get(), decimal.getcontext().prec


class Aside(Setting):
    """Does so beside other messages."""

    reentrant = True


class Looking(Actor):
    """Tells what it finds."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        return WHO.get(), decimal.getcontext().prec


class LookingLater(Looking):
    """Does so in a coroutine."""

    async def on_receive(self, message: Any) -> Any:
        return WHO.get(), decimal.getcontext().prec


@pytest.mark.parametrize("kind", [Setting, Aside])
@pytest.mark.parametrize("looking", [Looking, LookingLater])
class TestWhileItWaits:
    def test_others_do_not_see_what_it_has_set(
        self, kind: type[Setting], looking: type[Looking], manual: ManualDispatcher
    ) -> None:
        gate, looks = Future[None](), looking.start()
        found = looks.ask(1)
        one, two = kind.start(gate).request(5), kind.start(gate).request(7)
        manual.settle()
        assert looks.ask(1) == found
        gate.set(None)
        manual.settle()
        assert (one.get(), two.get()) == ((5, 5), (7, 7))
        assert looks.ask(1) == found

    def test_nor_do_they_on_threads(
        self, kind: type[Setting], looking: type[Looking], threads: Dispatcher
    ) -> None:
        gate, looks = Future[None](), looking.start()
        found = looks.ask(1)
        answers = [kind.start(gate).request(number) for number in (5, 7)]
        assert looks.ask(1) == found
        gate.set(None)
        assert [answer.get(timeout=10) for answer in answers] == [(5, 5), (7, 7)]


def test_one_that_is_killed_ends_in_its_own(manual: ManualDispatcher) -> None:
    ref = Setting.start(Future[None]())
    ref.tell(5)
    manual.settle()
    actor = ref._actor
    ref.kill()
    manual.settle()
    assert isinstance(actor, Setting)
    assert actor.at_the_end == 5


def test_messages_of_a_reentrant_actor_have_each_their_own(manual: ManualDispatcher) -> None:
    gate = Future[None]()
    ref = Aside.start(gate)
    answers = [ref.request(number) for number in (5, 7)]
    manual.settle()
    gate.set(None)
    manual.settle()
    assert [answer.get() for answer in answers] == [(5, 5), (7, 7)]
