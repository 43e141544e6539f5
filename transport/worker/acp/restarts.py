"""How often an agent's process is started again that ends before it has answered. Pure."""

from typing import Final, NamedTuple

MOST: Final = 5
"""Ends in a row after which no other process is started for a while."""
QUIET: Final = 600.0
"""Seconds after which it may be tried again."""


class Restarts(NamedTuple):
    """How often in a row an agent has ended before it had answered a prompt, and when and why it did last."""

    ends: int = 0
    last: float = 0.0
    why: str = ""

    def ended(self, now: float, why: str) -> "Restarts":
        """Give what is known after another end."""
        return Restarts(self.ends + 1, now, why)

    def due_at(self) -> float:
        """Give when the next may be started: after the first end at once, then later each time."""
        if self.ends >= MOST:
            return self.last + QUIET
        return self.last + (2.0 ** (self.ends - 2) if self.ends > 1 else 0.0)

    def refusal(self, now: float) -> str | None:
        """Say why none is started now, if that is so."""
        if self.ends < MOST or now >= self.due_at():
            return None
        minutes = max(1, round((self.due_at() - now) / 60))
        return (
            f"the agent has failed {self.ends} times in a row before it had answered, so it is not started "
            f"again for {minutes} min; mend what is wrong with it, or kill the session's agent to try at "
            f"once. The last time: {self.why}"
        )
