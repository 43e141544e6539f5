"""What a supervisor is told about a child: data, with documented defaults."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from showcaller.actors.runtime.lineage import Recipe, Restart

if TYPE_CHECKING:
    from showcaller.actors.runtime.actor import Actor

Shutdown = float | Literal["kill", "infinity"]


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before a restart: ``first`` seconds, each further one ``factor`` times longer.

    At most ``longest`` seconds. A child that has run for ``calm`` seconds since it started begins anew.
    """

    first: float = 0.1
    factor: float = 2.0
    longest: float = 60.0
    calm: float = 60.0

    def __post_init__(self) -> None:
        if not (self.first >= 0 and self.factor >= 1 and self.longest >= self.first and self.calm >= 0):
            raise ValueError(f"a back-off grows from at least 0 s to its longest, which {self} does not")

    def delay(self, streak: int) -> float:
        """Seconds before restart number ``streak`` (from 1) in a row."""
        if self.first <= 0:
            return 0.0
        delay = self.first
        for _ in range(streak - 1):
            delay *= self.factor
            if delay >= self.longest or self.factor <= 1:
                break
        return min(delay, self.longest)


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """A child of a supervisor.

    ``restart``: ``permanent`` lives again after every end, ``transient`` only after an abnormal one,
    ``temporary`` never, and is then forgotten. ``shutdown``: how many seconds an ordered stop may take
    before the child is killed, ``"kill"`` at once, ``"infinity"`` for as long as it takes; None is
    ``"infinity"`` for supervisors and 5 seconds for others. ``backoff``: None restarts at once.
    """

    name: str
    actor_class: "type[Actor]"
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    restart: Restart = "permanent"
    shutdown: Shutdown | None = None
    backoff: Backoff | None = None

    def __post_init__(self) -> None:
        if self.restart not in ("permanent", "transient", "temporary"):
            raise ValueError(f"restart of child {self.name!r} cannot be {self.restart!r}")
        seconds = self.shutdown
        named = seconds is None or seconds in ("kill", "infinity")
        if not named and not (isinstance(seconds, int | float) and seconds >= 0):
            raise ValueError(f"shutdown of child {self.name!r} cannot be {self.shutdown!r}")

    @property
    def recipe(self) -> Recipe:
        """How to make the actor."""
        return Recipe(self.actor_class, self.args, self.kwargs)
