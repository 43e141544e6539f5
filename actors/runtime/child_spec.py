"""What a supervisor is told about a child: data, with documented defaults."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from showcaller.actors.runtime.actor import Actor
from showcaller.actors.runtime.choices import is_a, refuse_unknown
from showcaller.actors.runtime.lineage import Recipe, Restart
from showcaller.actors.runtime.timers import LONGEST

ShutdownTime = float | Literal["kill", "infinity"]


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
        times = (self.first, self.factor, self.longest, self.calm)
        if not all(is_a(time, int, float) for time in times):
            raise TypeError(f"a back-off is made of numbers, which {self} is not")
        if not self.longest < LONGEST:
            raise ValueError(f"a back-off takes less than {LONGEST:.0e} s, which {self} does not")
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
    ``"infinity"`` for supervisors and 5 seconds for others. A killed child that waits in ``future.get()``
    gets an ``ActorDeadError`` there, in a ``finally`` block after another second (at once if its supervisor
    was killed); one that is still not done is then left to itself, and its next life, if any, has a new ref.
    ``backoff``: None restarts at once.
    """

    name: str
    actor_class: type[Actor]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    restart: Restart = "permanent"
    shutdown: ShutdownTime | None = None
    backoff: Backoff | None = None

    def __post_init__(self) -> None:
        refuse_unknown(f"restart of child {self.name!r}", self.restart, get_args(Restart))
        seconds = self.shutdown
        named = seconds is None or seconds in ("kill", "infinity")
        if not named and not (isinstance(seconds, int | float) and 0 <= seconds < LONGEST):
            raise ValueError(
                f"shutdown of child {self.name!r} cannot be {self.shutdown!r}: "
                "choose 'kill', 'infinity' or a number of seconds"
            )
        self._refuse_wrong_types()

    def _refuse_wrong_types(self) -> None:
        made_of: Any = self.actor_class
        wanted = {
            "name": (is_a(self.name, str), "give text"),
            "actor_class": (
                is_a(made_of, type) and issubclass(made_of, Actor),
                "give a class based on showcaller's Actor",
            ),
            "args": (is_a(self.args, tuple), "give a tuple, such as (1, 2) or (1,)"),
            "kwargs": (is_a(self.kwargs, dict), "give a dict"),
            "backoff": (self.backoff is None or is_a(self.backoff, Backoff), "give a Backoff(…)"),
        }
        for field_name, (right, way_out) in wanted.items():
            if not right:
                given = getattr(self, field_name)
                raise TypeError(f"{field_name} of child {self.name!r} cannot be {given!r}: {way_out}")

    @property
    def recipe(self) -> Recipe:
        """How to make the actor."""
        return Recipe(self.actor_class, self.args, self.kwargs)
