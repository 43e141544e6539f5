"""Whatever happens to a tree of supervisors: once it has ended, nobody still waits for an answer of it."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorRef,
    Backoff,
    ChildSpec,
    Future,
    GetChild,
    ListChildren,
    RemoveChild,
    RestartChild,
    RestartIntensity,
    StartChild,
    StopChild,
    Supervisor,
)
from showcaller.actors.runtime.lineage import Restart
from showcaller.actors.runtime.strategy import Strategy
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Boom

RESTARTS: tuple[Restart, ...] = ("permanent", "transient", "temporary")
STRATEGIES: tuple[Strategy, ...] = ("one_for_one", "one_for_all", "rest_for_one")


class Moody(Actor):
    """Starts at once, later or not at all; its handler waits, answers or fails, as its dice have it."""

    registered = False

    def __init__(self, dice: random.Random, held: list[Future[None]]) -> None:
        super().__init__()
        self.dice = dice
        self.held = held

    async def _wait(self) -> None:
        until = Future[None]()
        self.held.append(until)
        await until

    async def on_start(self) -> None:  # type: ignore[override]
        if self.dice.random() < 0.4:
            await self._wait()
        if self.dice.random() < 0.05:
            raise Boom

    async def on_receive(self, message: Any) -> Any:
        if self.dice.random() < 0.5:
            await self._wait()
        if self.dice.random() < 0.2:
            raise Boom
        return message


class Tree:
    """A supervisor above one more, moody children everywhere, and the answers that are awaited of them."""

    def __init__(self, dispatcher: ManualDispatcher, seed: int) -> None:
        self.dispatcher = dispatcher
        self.dice = random.Random(seed)
        self.held: list[Future[None]] = []
        self.answers: list[tuple[object, Future[Any]]] = []
        self.refs: list[ActorRef[Any]] = []
        lower = ChildSpec("lower", Supervisor, (self.specs("xyz"),), self.options(), restart=self.restart())
        self.top: ActorRef[Any] = Supervisor.start([*self.specs("ab"), lower], **self.options())
        if self.dice.random() < 0.8:  # else things happen while it still starts
            while dispatcher.settle() and self.held:
                self.held.pop().set(None)

    def restart(self) -> Restart:
        """Draw when a child lives again."""
        return self.dice.choice(RESTARTS)

    def options(self) -> dict[str, Any]:
        """Draw how a supervisor restarts."""
        return {"strategy": self.dice.choice(STRATEGIES), "intensity": RestartIntensity(20, 5.0)}

    def specs(self, names: str) -> list[ChildSpec]:
        """Specify moody children."""
        return [self.spec(name) for name in names]

    def spec(self, name: str) -> ChildSpec:
        """Specify a moody child."""
        return ChildSpec(
            name,
            Moody,
            (self.dice, self.held),
            restart=self.restart(),
            shutdown=self.dice.choice([0.5, "kill", 5.0]),
            backoff=self.dice.choice([None, Backoff(0.2)]),
        )

    def supervisors(self) -> list[ActorRef[Any]]:
        """Give the refs of supervisors, dead ones included."""
        lower = [ref for ref in self.top.extras().children or () if issubclass(ref.actor_class, Supervisor)]
        return [self.top, *lower]

    def anybody(self) -> ActorRef[Any]:
        """Draw one of those below the top, or the top when it is alone."""
        return self.dice.choice([ref for top in self.supervisors() for ref in _children(top)] or [self.top])

    def command(self) -> None:
        """Ask or tell a supervisor to do something."""
        name = self.dice.choice("abxyzn")
        kinds: list[Callable[[], object]] = [
            lambda: StartChild(self.spec(name)),
            lambda: StopChild(name),
            lambda: RestartChild(name),
            lambda: RemoveChild(name),
            lambda: GetChild(name),
            ListChildren,
        ]
        message, ref = self.dice.choice(kinds)(), self.dice.choice(self.supervisors())
        if self.dice.random() < 0.8:
            self.answers.append((message, ref.ask(message, block=False)))
        elif ref.is_alive():
            ref.tell(message)

    def one_thing(self) -> None:
        """Let something happen."""
        draw = self.dice.random()
        if draw < 0.4:
            self.command()
        elif draw < 0.6:
            ref = self.anybody()
            if ref.is_alive() and not issubclass(ref.actor_class, Supervisor):
                self.answers.append(("hello", ref.ask("hello", block=False)))
                ref.tell("hello")
        elif draw < 0.8 and self.held:
            self.held.pop(self.dice.randrange(len(self.held))).try_set(None)
        elif draw < 0.84:
            self.anybody().kill()
        elif draw < 0.86:
            ref = self.anybody()
            self.answers.append(("stop", ref.stop(block=False)))
        elif draw < 0.96:
            self.dispatcher.advance(self.dice.random())
        for _ in range(self.dice.randrange(6)):
            self.dispatcher.step()


def _children(supervisor: ActorRef[Any]) -> list[ActorRef[Any]]:
    return list(supervisor.extras().children or ())


@pytest.mark.parametrize("end", ["stop", "kill", "stop, then kill"])
@pytest.mark.parametrize("seed", range(40))
def test_nobody_waits_for_a_tree_that_has_ended(seed: int, end: str) -> None:
    with ManualDispatcher(seed=seed) as dispatcher:
        tree = Tree(dispatcher, seed)
        for _ in range(120):
            tree.one_thing()
        if end != "kill":
            tree.answers.append(("stop", tree.top.stop(block=False)))
            for _ in range(tree.dice.randrange(30)):
                dispatcher.step()
        if end != "stop":
            tree.top.kill()
        dispatcher.advance(60)
        assert not tree.top.is_alive()
        assert [message for message, answer in tree.answers if not answer.done] == []
        dispatcher.advance(3600)
        assert not any(ref.is_alive() for ref in _children(tree.top))
