"""How many restarts are too many."""

from dataclasses import dataclass

History = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RestartIntensity:
    """At most ``restarts`` restarts in any ``seconds`` seconds; one more, and the supervisor gives up."""

    restarts: int = 3
    seconds: float = 5.0

    def __post_init__(self) -> None:
        if self.restarts < 0 or not self.seconds > 0:
            raise ValueError(f"an intensity needs restarts from 0 and seconds above 0, not {self}")

    def note(self, history: History, now: float) -> tuple[History, bool]:
        """Give the history with a restart at ``now`` (monotonic seconds), and whether it is allowed."""
        recent = (*(time for time in history if time > now - self.seconds), now)
        return recent, len(recent) <= self.restarts
