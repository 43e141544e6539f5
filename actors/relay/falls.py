"""What is done about a session that failed: woken by itself once, and not again and again."""

from collections import deque
from typing import Literal

from showcaller.actors.runtime import RestartIntensity

REMEMBERED = 60.0  # seconds in which falls count as one series
MANY = RestartIntensity(restarts=1, seconds=REMEMBERED)

Care = Literal["wake", "leave", "clear"]


class Falls:
    """The sessions that have failed since they were last asleep, and when."""

    def __init__(self) -> None:
        self._falls: dict[str, deque[float]] = {}

    def note(self, session: str, now: float) -> Care:
        """Say what to do after a failure at ``now`` (monotonic seconds).

        ``wake`` it after the first in a minute; ``leave`` it until somebody sends to it after the second;
        and then ``clear`` away what it failed over, so that the next that wakes it finds it usable.
        """
        falls = self._falls.setdefault(session, deque())
        if MANY.note(falls, now):
            return "wake"
        return "leave" if len(falls) == MANY.restarts + 1 else "clear"

    def has_fallen(self, session: str) -> bool:
        """Whether something of an earlier life of its actor may still be under way."""
        return session in self._falls

    def forget(self, session: str) -> None:
        """It sleeps, so all is well."""
        self._falls.pop(session, None)
