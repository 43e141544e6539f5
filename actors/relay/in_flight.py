"""The reply that is still being written, kept short: its end is what people and agents look at."""

from showcaller.actors.contract.worker import TurnOutput
from showcaller.actors.relay.tail import Tail

KEPT = 20_000  # characters


class InFlight:
    """What the turn under way has written so far, at most its last 20,000 characters."""

    __slots__ = ("_tail", "turn")

    def __init__(self) -> None:
        self.turn: str | None = None
        self._tail = Tail(KEPT)

    def begin(self, turn: str) -> None:
        """This turn goes to a worker."""
        self.end()
        self.turn = turn

    def add(self, output: TurnOutput) -> None:
        """Add a piece; one of another turn is late and dropped."""
        if output.turn == self.turn:
            self._tail.add(output.text)

    def end(self) -> None:
        """The turn is over; its reply is in the store."""
        self.turn = None
        self._tail.clear()

    @property
    def text(self) -> str:
        """The end of what was written."""
        return self._tail.text
