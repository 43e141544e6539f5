"""Which waits are refused as a cycle: those that could never end, and no other."""

from collections.abc import Callable
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, ActorRef, AskCycle, Future, take_reply
from showcaller.actors.runtime.testkit import ManualDispatcher

DERIVED: list[Callable[[Future[Any]], Future[Any]]] = [
    lambda reply: reply,
    lambda reply: reply.map(str),
    lambda reply: reply.map(str).map(str),
    lambda reply: reply.join(),
    lambda reply: reply.map(str).join(reply.map(repr)),
]


class Asker(Actor):
    """Awaits what ``derive`` makes of the reply of the ref it is sent; answers "pong" to the rest."""

    registered = False

    def __init__(self, derive: Callable[[Future[Any]], Future[Any]] = DERIVED[0]) -> None:
        super().__init__()
        self.derive = derive

    async def on_receive(self, message: Any) -> Any:
        if isinstance(message, ActorRef):
            return await self.derive(message.request(self.actor_ref))
        return "pong"


@pytest.mark.parametrize("derive", DERIVED)
class TestDerived:
    def test_who_took_the_reply_may_ask_back_in_a_later_message(
        self, derive: Callable[[Future[Any]], Future[Any]], manual: ManualDispatcher
    ) -> None:
        kept: list[Future[Any]] = []
        heard: list[Any] = []

        class Desk(Actor):
            registered = False

            async def on_receive(self, message: Any) -> None:
                if isinstance(message, ActorRef):
                    reply = take_reply()
                    assert reply is not None
                    kept.append(reply)
                    self.asker = message
                else:
                    heard.append(await self.asker.request("ping"))

        desk = Desk.start()
        answer = Asker.start(derive).request(desk)
        manual.settle()
        desk.tell("ask back")
        manual.settle()
        assert heard == []  # both wait, and neither is refused: somebody else has the reply
        kept[0].set("answer")
        manual.settle()
        assert "answer" in str(answer.get())
        assert heard == ["pong"]

    def test_who_still_owes_the_reply_may_not(
        self, derive: Callable[[Future[Any]], Future[Any]], manual: ManualDispatcher
    ) -> None:
        class Owing(Actor):
            registered = False

            async def on_receive(self, message: ActorRef[Any]) -> Any:
                with pytest.raises(AskCycle):
                    await message.request("ping")
                return "refused"

        assert "refused" in str(Asker.start(derive).ask(Owing.start()))
