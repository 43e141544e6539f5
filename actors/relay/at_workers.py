"""Which turns are with a worker, and how they ended, until that is stored; it outlives sessions' actors."""

from threading import Lock
from typing import Literal

from showcaller.actors.contract.worker import TurnEnded


class AtWorkers:
    """One turn for each session that has one with a worker, with its end once the worker has told it.

    An end is kept from before its session is told of it until it is stored, so that it is not lost with a
    session that fails. What workers say of other turns is not kept. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._turns: dict[str, str] = {}
        self._ends: dict[str, TurnEnded] = {}

    def begin(self, session: str, turn: str) -> None:
        """Note that this turn is being sent to a worker."""
        with self._lock:
            self._turns[session] = turn
            self._ends.pop(session, None)

    def ended(self, end: TurnEnded) -> bool:
        """Keep the first end of a turn that is with a worker; False when it is of no such turn."""
        with self._lock:
            if self._turns.get(end.session) != end.turn:
                return False
            self._ends.setdefault(end.session, end)
            return True

    def find(self, session: str, turn: str) -> TurnEnded | Literal["running"] | None:
        """Give the end of a turn, or say that a worker runs it; None when none is known to have it."""
        with self._lock:
            if self._turns.get(session) != turn:
                return None
            return self._ends.get(session, "running")

    def forget(self, session: str) -> None:
        """The end of the session's turn is stored, or no end is to be waited for."""
        with self._lock:
            self._turns.pop(session, None)
            self._ends.pop(session, None)
