"""The reply that is still being written, kept short: its end is what people and agents look at."""

from showcaller.actors.contract.limits import PROGRESS_ACTIVITIES
from showcaller.actors.contract.worker import TurnActivity, TurnOutput
from showcaller.actors.relay.messages import AwaitOutput, OutputGlance
from showcaller.actors.relay.replies import Reply, answer
from showcaller.actors.relay.tail import Tail

KEPT = 20_000  # characters


class InFlight:
    """What the turn under way has written, at most its last 20,000 characters, and who waits for more."""

    __slots__ = ("_size", "_tail", "_waiting", "activity", "turn")

    def __init__(self) -> None:
        self.turn: str | None = None
        self.activity: tuple[str, ...] = ()
        self._size = 0
        self._tail = Tail(KEPT)
        self._waiting: list[tuple[AwaitOutput, Reply]] = []

    def begin(self, turn: str) -> None:
        """This turn goes to a worker."""
        self.end()
        self.turn = turn

    def add(self, output: TurnOutput) -> None:
        """Add a piece; one of another turn is late and dropped."""
        if output.turn == self.turn:
            self._tail.add(output.text)
            self._size += len(output.text)
            if self._waiting:
                self._tell()

    def act(self, told: TurnActivity) -> None:
        """Note what the turn does; that of another one is late and dropped."""
        if told.turn == self.turn:
            self.activity = (*self.activity, *told.lines)[-PROGRESS_ACTIVITIES:]

    def end(self) -> None:
        """The turn is over; its reply is in the store."""
        self.turn = None
        self.activity = ()
        self._size = 0
        self._tail.clear()
        self._tell()

    def await_output(self, wish: AwaitOutput, reply: Reply) -> None:
        """Answer when there is news for who knows so much."""
        if reply is not None:
            self._waiting.append((wish, reply))
            self._tell()

    def tell_all(self) -> None:
        """Answer all who wait for more with what there is: no more comes here."""
        waiting, self._waiting = self._waiting, []
        for _, reply in waiting:
            answer(reply, self._glance)

    @property
    def _glance(self) -> OutputGlance:
        return OutputGlance(self.turn, self.text, self._size)

    @property
    def text(self) -> str:
        """The end of what was written."""
        return self._tail.text

    def _tell(self) -> None:
        waiting, self._waiting = self._waiting, []
        for wish, reply in waiting:
            if self.turn is None or self.turn != wish.turn or self._size > wish.size:
                answer(reply, self._glance)
            elif reply is not None and not reply.done:  # else who asked waits no more
                self._waiting.append((wish, reply))
