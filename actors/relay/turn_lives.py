"""Who waits until nothing of a turn goes on any more, neither itself nor a background task that it began."""

from collections.abc import Callable

from showcaller.actors.relay.messages import AwaitTurnGone
from showcaller.actors.relay.replies import Reply, answer


class TurnLives:
    """Tells those who wait in one session; ``goes_on`` says whether anything of a turn does."""

    __slots__ = ("_goes_on", "_waiting")

    def __init__(self, goes_on: Callable[[str], bool]) -> None:
        self._goes_on = goes_on
        self._waiting: list[tuple[str, Reply]] = []

    def await_gone(self, wish: AwaitTurnGone, reply: Reply) -> None:
        """Answer with True once nothing of the turn goes on, and that is stored."""
        if reply is not None:
            self._waiting.append((wish.turn, reply))
            self.look()

    def look(self) -> None:
        """Tell those whose turn is gone; a turn or a task may just have ended."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        for turn, reply in waiting:
            if not self._goes_on(turn):
                answer(reply, value=True)
            elif reply is not None and not reply.done:  # else who asked waits no more
                self._waiting.append((turn, reply))

    def tell_nothing(self) -> None:
        """Answer all with False: this life of the session ends before their turns."""
        waiting, self._waiting = self._waiting, []
        for _, reply in waiting:
            answer(reply, value=False)
