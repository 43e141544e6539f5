"""What is with workers and what they have told, until that is stored; it outlives sessions' actors."""

from threading import Lock
from typing import Literal

from showcaller.actors.contract.agent_messages import CardAsked, CardWithdrawn
from showcaller.actors.contract.worker import TaskEnded, TaskStarted, TurnEnded, TurnReturned

TaskFrame = TaskStarted | TaskEnded
CardFrame = CardAsked | CardWithdrawn
Told = TurnEnded | Literal["untaken"]
"""How a turn ended, or that no worker has had it, nor will."""


class AtWorkers:
    """One turn for each session that has one with a worker, with what the worker has told of its end.

    That is kept from before its session is told of it until it is stored, so that it is not lost with a
    session that fails, and so are the beginnings and ends of background tasks, and what is asked in the turn.
    What workers say of the ends of other turns is not kept. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._turns: dict[str, str] = {}
        self._ends: dict[str, Told] = {}
        self._tasks: dict[str, list[TaskFrame]] = {}
        self._cards: dict[str, list[CardFrame]] = {}

    def begin(self, session: str, turn: str) -> None:
        """Note that this turn is being sent to a worker."""
        with self._lock:
            self._turns[session] = turn
            self._ends.pop(session, None)
            self._keep_cards([frame for frame in self._cards.pop(session, []) if frame.turn == turn])

    def over(self, told: TurnEnded | TurnReturned) -> bool:
        """Keep the first end of a turn that is with a worker; False when it is of no such turn."""
        with self._lock:
            if self._turns.get(told.session) != told.turn:
                return False
            self._ends.setdefault(told.session, told if isinstance(told, TurnEnded) else "untaken")
            return True

    def find(self, session: str, turn: str) -> Told | Literal["running"] | None:
        """Give the end of a turn, or say that a worker runs it; None when none is known to have it."""
        with self._lock:
            if self._turns.get(session) != turn:
                return None
            return self._ends.get(session, "running")

    def forget(self, session: str) -> None:
        """The end of the session's turn is stored, or no end is to be waited for."""
        with self._lock:
            turn = self._turns.pop(session, None)
            self._ends.pop(session, None)
            self._keep_cards([frame for frame in self._cards.pop(session, []) if frame.turn != turn])

    def keep_card(self, frame: CardFrame) -> None:
        """Keep what a worker tells of a card until its turn is over."""
        with self._lock:
            frames = self._cards.setdefault(frame.session, [])
            if frame not in frames:
                frames.append(frame)

    def card_frames(self, session: str) -> tuple[CardFrame, ...]:
        """Give what workers have told of a session's cards, in order; it may be stored."""
        with self._lock:
            return tuple(self._cards.get(session, ()))

    def _keep_cards(self, frames: list[CardFrame]) -> None:
        if frames:
            self._cards[frames[0].session] = frames

    def keep_task(self, frame: TaskFrame) -> None:
        """Keep what a worker tells of a background task."""
        with self._lock:
            frames = self._tasks.setdefault(frame.session, [])
            if frame not in frames:
                frames.append(frame)

    def task_frames(self, session: str) -> tuple[TaskFrame, ...]:
        """Give what workers have told of a session's tasks and is not stored, in order."""
        with self._lock:
            return tuple(self._tasks.get(session, ()))

    def task_stored(self, session: str, task: str, kind: Literal["task_started", "task_ended"]) -> None:
        """The beginning or the end of a task (by its worker's name) is stored, or never will be."""
        with self._lock:
            frames = [f for f in self._tasks.pop(session, []) if (f.task, f.kind) != (task, kind)]
            if frames:
                self._tasks[session] = frames

    def forget_tasks(self, session: str) -> None:
        """There is no such session."""
        with self._lock:
            self._tasks.pop(session, None)
            self._cards.pop(session, None)
