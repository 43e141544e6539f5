"""How many restarts are too many."""

from collections import deque
from dataclasses import dataclass

from showcaller.actors.runtime.choices import is_a

History = deque[float]
"""When (monotonic seconds) there were restarts, the oldest first; those that no longer count are left out."""


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

    def note(self, history: History, now: float) -> bool:
        """Add a restart at ``now`` (monotonic seconds) to the history; True if it is allowed."""
        while history and history[0] <= now - self.seconds:
            history.popleft()
        history.append(now)
        return len(history) <= self.restarts
