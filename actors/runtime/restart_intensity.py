"""How many restarts are too many."""

from dataclasses import dataclass

from showcaller.actors.runtime.choices import is_a

History = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RestartIntensity:
    """At most ``restarts`` restarts in any ``seconds`` seconds; one more, and the supervisor gives up."""

    restarts: int = 3
    seconds: float = 5.0

    def __post_init__(self) -> None:
        if not is_a(self.restarts, int) or not is_a(self.seconds, int, float):
            raise TypeError(f"an intensity is made of two numbers, which {self} is not")
        if self.restarts < 0 or not self.seconds > 0:
            raise ValueError(f"an intensity needs restarts from 0 and seconds above 0, not {self}")

    def note(self, history: History, now: float) -> tuple[History, bool]:
        """Give the history with a restart at ``now`` (monotonic seconds), and whether it is allowed."""
        recent = (*(time for time in history if time > now - self.seconds), now)
        return recent, len(recent) <= self.restarts
