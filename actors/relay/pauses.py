"""How long to wait before the store is asked again for what it refused."""

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds


class Pauses:
    """Each pause is twice as long as the one before, up to a bound."""

    def __init__(self) -> None:
        self._next = FIRST_PAUSE

    def next(self) -> float:
        """Give the length of the next pause in seconds."""
        pause = self._next
        self._next = min(pause * 2, LONGEST_PAUSE)
        return pause

    def over(self) -> None:
        """Something was stored: begin with a short pause the next time."""
        self._next = FIRST_PAUSE
