"""The reply that is still being written, kept short: its end is what people and agents look at."""

from showcaller.actors.contract.worker import TurnOutput

KEPT = 20_000  # characters


class InFlight:
    """What the turn under way has written so far, at most its last 20,000 characters."""

    __slots__ = ("_pieces", "_size", "turn")

    def __init__(self) -> None:
        self.turn: str | None = None
        self._pieces: list[str] = []
        self._size = 0

    def begin(self, turn: str) -> None:
        """This turn goes to a worker."""
        self.end()
        self.turn = turn

    def add(self, output: TurnOutput) -> None:
        """Add a piece; one of another turn is late and dropped."""
        if output.turn != self.turn:
            return
        self._pieces.append(output.text)
        self._size += len(output.text)
        if self._size > 2 * KEPT:
            kept = self.text
            self._pieces, self._size = [kept], len(kept)

    def end(self) -> None:
        """The turn is over; its reply is in the store."""
        self.turn = None
        self._pieces.clear()
        self._size = 0

    @property
    def text(self) -> str:
        """The end of what was written."""
        return "".join(self._pieces)[-KEPT:]
