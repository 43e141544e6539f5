"""Actors and supervisors that several tests put on the stage."""

from collections.abc import Sequence
from typing import Any

from showcaller.actors.runtime import (
    Actor,
    ActorRef,
    ChildInfo,
    ChildSpec,
    Future,
    GetChild,
    ListChildren,
    RestartIntensity,
    Supervisor,
)
from showcaller.actors.runtime.lineage import Restart
from showcaller.actors.runtime.strategy import Strategy
from showcaller.actors.runtime.testkit import ManualDispatcher

THREE_IN_FIVE = RestartIntensity(3, 5.0)


class Boom(Exception):
    """What fails on purpose."""


class Failing(Actor):
    """Answers, and fails on demand."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        if message == "boom":
            raise Boom
        if isinstance(message, BaseException):
            raise message
        return message


class Unwilling(Actor):
    """Does not even get made."""

    registered = False

    def __init__(self) -> None:
        super().__init__()
        raise Boom


class Waiter(Actor):
    """Waits for ever when told."""

    registered = False

    def __init__(self, until: "Future[None] | None" = None) -> None:
        super().__init__()
        self.until: Future[None] = Future() if until is None else until
        self.ended = False

    async def on_receive(self, message: Any) -> Any:
        try:
            await self.until
        finally:
            self.ended = True
        return message


class Player(Actor):
    """Notes its life in a log; fails, or does not start, on demand."""

    registered = False

    def __init__(self, name: str, log: list[str], unwilling: set[str]) -> None:
        super().__init__()
        self.name = name
        self.log = log
        self.unwilling = unwilling  # whoever is named here does not start

    def on_start(self) -> None:
        if self.name in self.unwilling:
            self.log.append(f"{self.name} does not start")
            raise Boom(self.name)
        self.log.append(f"{self.name} starts")

    def on_stop(self) -> None:
        self.log.append(f"{self.name} stops")

    def on_failure(self, *error: Any) -> None:
        self.log.append(f"{self.name} fails")

    def on_receive(self, message: Any) -> Any:
        if message == "boom":
            raise Boom(self.name)
        self.log.append(f"{self.name} gets {message}")
        return message


class Troupe:
    """A supervisor with the players a, b and c on a manual dispatcher."""

    def __init__(
        self,
        dispatcher: ManualDispatcher,
        *,
        strategy: Strategy = "one_for_one",
        restart: Restart = "permanent",
        restarts: Sequence[Restart] | None = None,
        intensity: RestartIntensity = THREE_IN_FIVE,
        unwilling: Sequence[str] = (),
        **spec: Any,
    ) -> None:
        self.dispatcher = dispatcher
        self.log: list[str] = []
        self.unwilling = set(unwilling)
        kinds: Sequence[Restart] = restarts or (restart, restart, restart)
        self.specs = [self.spec(name, kind, **spec) for name, kind in zip("abc", kinds, strict=True)]
        self.supervisor: ActorRef[Supervisor] = Supervisor.start(
            self.specs, strategy=strategy, intensity=intensity
        )
        dispatcher.settle()
        self.refs = {info.name: info.ref for info in self.children()} if self.supervisor.is_alive() else {}

    def spec(self, name: str, restart: Restart = "permanent", **spec: Any) -> ChildSpec:
        """Specify one more player."""
        return ChildSpec(name, Player, (name, self.log, self.unwilling), restart=restart, **spec)

    def children(self) -> tuple[ChildInfo, ...]:
        """Give the children as the supervisor lists them."""
        listed: tuple[ChildInfo, ...] = self.supervisor.ask(ListChildren())
        return listed

    def states(self) -> dict[str, str]:
        """Give the state of every child that the supervisor knows."""
        return {info.name: info.state for info in self.children()}

    def restarted(self) -> dict[str, int]:
        """Give the number of restarts of every child that the supervisor knows."""
        return {info.name: info.restarts for info in self.children()}

    def __getitem__(self, name: str) -> ActorRef[Any]:
        ref = self.refs[name]
        assert ref is not None
        return ref

    def get(self, name: str) -> ActorRef[Any] | None:
        """Ask the supervisor for a child's present ref."""
        ref: ActorRef[Any] | None = self.supervisor.ask(GetChild(name))
        return ref

    def news(self) -> list[str]:
        """Let everything happen, and give what has been logged since the last look."""
        self.dispatcher.settle()
        log = list(self.log)
        self.log.clear()
        return log


def stubborn(shutdown: Any) -> tuple[ActorRef[Supervisor], ActorRef[Any]]:
    """Start a supervisor with one child, which waits for ever in a handler."""
    supervisor = Supervisor.start([ChildSpec("stubborn", Waiter, shutdown=shutdown)])
    child: ActorRef[Any] = supervisor.ask(GetChild("stubborn"))
    child.tell("wait")
    return supervisor, child
