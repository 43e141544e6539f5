"""What happened in a world, line by line: the same seed gives the same lines, byte for byte."""

from showcaller.actors.runtime.testkit import ManualClock


class Trace:
    """Lines of what happened, each with the world's time and who did it."""

    def __init__(self, clock: ManualClock, home: str) -> None:
        self._clock = clock
        self._home = home
        self.lines: list[str] = []

    def say(self, who: str, what: str) -> None:
        """Add a line; where the data folder happens to be is no part of it."""
        text = what.replace(self._home, "HOME").replace("\n", "⏎")
        self.lines.append(f"{self._clock.monotonic():12.3f}  {who:<7} {text}")

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.lines) + "\n"
