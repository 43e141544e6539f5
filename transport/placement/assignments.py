"""Which session is with which worker, and which turns a worker may have: the books of the pool."""

from collections.abc import Sequence
from zlib import crc32

from showcaller.actors.contract.fates import Left, fate_of
from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    KillAgent,
    RunTurn,
    SteerTurn,
    StopTurn,
    TaskEnded,
    TaskStarted,
    ToWorkerMessage,
    TurnEnded,
    TurnReturned,
    TurnSteered,
)

PARTLY = "its worker died while it ran; it may have run in part"


class Assignments:
    """Books of the workers that are there or coming. Not thread-safe.

    A session stays with a worker while that has a turn or a background task of it; else any will do.
    """

    def __init__(self) -> None:
        self._turns: dict[str, dict[str, RunTurn]] = {}
        self._homes: dict[str, str] = {}
        self._tasks: dict[str, set[str]] = {}

    def __contains__(self, worker: str) -> bool:
        return worker in self._turns

    @property
    def workers(self) -> Sequence[str]:
        """The workers, by name."""
        return sorted(self._turns)

    @property
    def sessions(self) -> int:
        """How many sessions have something at a worker."""
        return len(self._homes)

    def add(self, worker: str) -> None:
        """A worker comes."""
        self._turns[worker] = {}

    def place(self, session: str) -> str:
        """Give the worker that this session's next turn goes to. Raises LookupError when none is left."""
        home = self._homes.get(session)
        if home is not None:
            return home
        workers = self.workers
        if not workers:
            raise LookupError("no worker is left: they were told to end")
        return workers[crc32(session.encode()) % len(workers)]

    def assign(self, run: RunTurn, worker: str) -> None:
        """This turn goes to this worker, or is asked for there once more."""
        self._homes[run.session] = worker
        self._turns[worker][run.turn] = run

    def told(self, worker: str, message: FromWorkerMessage) -> None:
        """A worker says something."""
        match message:
            case TurnEnded(turn=turn):
                self._turns.get(worker, {}).pop(turn, None)
            case TaskStarted(session=session, task=task):
                self._tasks.setdefault(session, set()).add(task)
            case TaskEnded(session=session, task=task):
                self._tasks.get(session, set()).discard(task)
            case _:
                pass

    def stored(self, session: str) -> None:
        """The end of the session's turn is stored, so the next may go anywhere if no task of it runs."""
        if not self._tasks.get(session):
            self._tasks.pop(session, None)
            self._homes.pop(session, None)

    def lose(self, worker: str, left: Left) -> list[FromWorkerMessage]:
        """A worker has died and has left this: give what its turns and its background tasks come to."""
        told = [_told(run, left) for run in self._turns.pop(worker, {}).values()]
        for session in sorted(each for each, home in self._homes.items() if home == worker):
            del self._homes[session]
            tasks = sorted(self._tasks.pop(session, ()))
            told += [TaskEnded(session=session, task=task, outcome="failed") for task in tasks]
        return told


def taken_back(
    order: StopTurn | KillAgent, waiting: Sequence[ToWorkerMessage]
) -> tuple[list[ToWorkerMessage], list[FromWorkerMessage]]:
    """End what of these messages, which no worker has seen, an order stops. Pure.

    Gives what still waits, and what the relay is told: the turns have not run, nor taken a message.
    """
    still: list[ToWorkerMessage] = []
    told: list[FromWorkerMessage] = []
    for message in waiting:
        match message:
            case RunTurn(session=session, turn=turn) if _is_stopped(session, turn, order):
                told.append(TurnEnded(session=session, turn=turn, outcome="stopped"))
            case SteerTurn(session=session, turn=turn) if _is_stopped(session, turn, order):
                refused = TurnSteered(session=session, turn=turn, message=message.message, accepted=False)
                told.insert(0, refused)
            case _:
                still.append(message)
    return still, told


def _is_stopped(session: str, turn: str, order: StopTurn | KillAgent) -> bool:
    return turn == order.turn if isinstance(order, StopTurn) else session == order.session


def _told(run: RunTurn, left: Left) -> FromWorkerMessage:
    fate = fate_of(run.turn, left)
    if fate == "untaken":
        return TurnReturned(session=run.session, turn=run.turn)
    if fate == "unknown":
        return TurnEnded(
            session=run.session,
            turn=run.turn,
            outcome="failed",
            stop_reason="interrupted",
            error_text=PARTLY,
        )
    return fate
