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


class Blocking(Asker):
    """Blocks for the reply instead of awaiting it."""

    def on_receive(self, message: Any) -> Any:
        return message.ask(self.actor_ref) if isinstance(message, ActorRef) else "pong"


class TestReentrant:
    @pytest.mark.parametrize("kind", [Asker, Blocking])
    def test_its_handler_may_not_await_who_waits_for_that_handler(
        self, kind: type[Asker], manual: ManualDispatcher
    ) -> None:
        seen: list[str] = []

        class Between(Actor):
            registered = False
            reentrant = True

            async def on_receive(self, message: ActorRef[Any]) -> Any:
                try:
                    return await message.request("ping")
                except AskCycle as cycle:
                    seen.append(str(cycle))
                    return "refused"

        asker, between = kind.start(), Between.start()
        assert asker.ask(between) == "refused"
        assert seen[0].endswith(f": Between → {kind.__name__} → Between")
        assert between.ask(asker) == "pong"  # who waits for nobody may be awaited

    def test_another_handler_of_it_may(self, manual: ManualDispatcher) -> None:
        until = Future[str]()

        class Waiter(Actor):
            registered = False
            reentrant = True

            async def on_receive(self, message: Any) -> Any:
                if message == "wait":
                    return await until
                return await message.request("ping") if isinstance(message, ActorRef) else "pong"

        waiter, asker = Waiter.start(), Asker.start()
        waits = waiter.request("wait")
        answer = asker.request(waiter)  # handled beside the one that waits: awaits its asker
        manual.settle()
        with pytest.raises(AskCycle):
            answer.get()
        again = Asker.start(lambda _: waits).request(waiter)
        manual.settle()
        asked = waiter.request(asker)
        manual.settle()
        assert asked.get() == "pong"
        until.set("waited")
        manual.settle()
        assert (waits.get(), again.get()) == ("waited", "waited")


class Pinging(Actor):
    """Awaits the pong of the ref it is sent."""

    registered = False

    async def on_receive(self, message: Any) -> Any:
        return await message.request("ping") if isinstance(message, ActorRef) else "pong"


class TestForwarded:
    @pytest.mark.parametrize("derive", DERIVED)
    def test_a_reply_passed_on_to_who_waits_for_its_asker_ends_in_the_error(
        self, derive: Callable[[Future[Any]], Future[Any]], manual: ManualDispatcher
    ) -> None:
        desk, asker, last = Forwarding.start(), Asker.start(derive), Pinging.start()
        answer = asker.request(desk)
        manual.settle()
        waits = last.request(asker)  # the asker waits for the desk, the last one for the asker
        manual.settle()
        assert (answer.done, waits.done) == (False, False)
        desk.tell(last)
        manual.settle()
        with pytest.raises(AskCycle, match=r"Asker → Pinging → Asker$"):
            answer.get()
        assert waits.get() == "pong"

    @pytest.mark.parametrize("derive", DERIVED)
    def test_one_passed_on_to_who_waits_for_another_does_not(
        self, derive: Callable[[Future[Any]], Future[Any]], manual: ManualDispatcher
    ) -> None:
        until = Future[str]()
        desk, asker, last = Forwarding.start(), Asker.start(derive), Asker.start(lambda _: until)
        answer, waits = asker.request(desk), last.request(desk)
        manual.settle()
        desk.tell(last)
        manual.settle()
        assert (answer.done, waits.done) == (False, False)
        until.set("until")
        manual.settle()
        assert "pong" in str(answer.get())
        assert waits.get() == "until"


class Forwarding(Actor):
    """Keeps the first reply that is asked of it, and passes it on to the ref it is told."""

    registered = False

    def __init__(self) -> None:
        super().__init__()
        self.kept: Future[Any] | None = None

    def on_receive(self, message: ActorRef[Any]) -> None:
        reply = take_reply()
        if reply is None:
            assert self.kept is not None
            message.forward("pong?", self.kept)
        elif self.kept is None:
            self.kept = reply
