"""Which session is with which worker, and which turns a worker may have: the books of the pool."""

from collections.abc import Sequence
from zlib import crc32

from showcaller.actors.contract.agent_messages import AgentState
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
    TurnActivity,
    TurnEnded,
    TurnOutput,
    TurnReturned,
    TurnSteered,
    TurnTaken,
)

PARTLY = "its worker died while it ran; it may have run in part"


class Assignments:
    """Books of the workers that are there or coming. Not thread-safe.

    A session stays with a worker while that has a turn, a background task or the agent process of it; else
    any will do.
    """

    def __init__(self) -> None:
        self._turns: dict[str, dict[str, RunTurn]] = {}
        self._homes: dict[str, str] = {}
        self._at_turns: set[str] = set()  # sessions with a turn whose end is not stored
        self._tasks: dict[str, set[str]] = {}
        self._ended_tasks: dict[str, set[str]] = {}  # their ends are not stored
        self._agents: set[str] = set()  # sessions whose agent process is there
        self._taken: set[str] = set()  # turns of which their worker has said that it has them

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

    def place(self, session: str) -> str | None:
        """Give the worker that this session's next turn goes to; None when none is left."""
        home = self._homes.get(session)
        if home is not None:
            return home
        workers = self.workers
        return workers[crc32(session.encode()) % len(workers)] if workers else None

    def assign(self, run: RunTurn) -> str | None:
        """Give the worker to which this turn goes, or where it is asked for once more; None if it is gone."""
        worker = run.worker or self.place(run.session)
        if worker is None or worker not in self._turns:
            return None
        self._homes[run.session] = worker
        self._at_turns.add(run.session)
        self._turns[worker][run.turn] = run
        return worker

    def expect_task(self, session: str, task: str, worker: str) -> None:
        """This worker has this background task."""
        self._homes[session] = worker
        self._tasks.setdefault(session, set()).add(task)

    def told(self, worker: str, message: FromWorkerMessage) -> None:
        """A worker says something."""
        match message:
            case TurnEnded(turn=turn):
                self._turns.get(worker, {}).pop(turn, None)
                self._taken.discard(turn)
            case TurnTaken(turn=turn) | TurnOutput(turn=turn) | TurnActivity(turn=turn):
                if turn in self._turns.get(worker, {}):
                    self._taken.add(turn)
            case TaskStarted(session=session, task=task) if worker in self._turns:
                self.expect_task(session, task, worker)
            case TaskEnded(session=session, task=task) if task in self._tasks.get(session, ()):
                self._tasks[session].discard(task)
                self._ended_tasks.setdefault(session, set()).add(task)
            case AgentState(session=session, state="none"):
                self._agents.discard(session)
                self._maybe_leave(session)
            case AgentState(session=session) if worker in self._turns:
                self._homes[session] = worker
                self._agents.add(session)
            case _:
                pass

    def stored(self, session: str) -> None:
        """The end of the session's turn is stored, so the next may go anywhere if no task of it is left."""
        self._at_turns.discard(session)
        self._maybe_leave(session)

    def task_stored(self, session: str, task: str) -> None:
        """The end of a background task is stored."""
        for tasks in (self._tasks, self._ended_tasks):
            tasks.get(session, set()).discard(task)
        self._maybe_leave(session)

    def _maybe_leave(self, session: str) -> None:
        """Let the session go elsewhere if nothing of it is left where it is."""
        if session not in self._at_turns and not self._tasks.get(session):
            self._tasks.pop(session, None)
            if not self._ended_tasks.get(session) and session not in self._agents:
                self._ended_tasks.pop(session, None)
                self._homes.pop(session, None)

    def lose(self, worker: str, left: Left | None) -> list[FromWorkerMessage]:
        """A worker has died and has left this: give what its turns, agents and tasks come to.

        What the worker itself has said of a turn counts, whatever has become of the journal that it kept.
        """
        runs = self._turns.pop(worker, {})
        if left is not None:
            left = left._replace(turns={**dict.fromkeys(runs.keys() & self._taken), **left.turns})
        told = [_told(run, left) for run in runs.values()]
        self._taken -= runs.keys()
        for session in sorted(each for each, home in self._homes.items() if home == worker):
            del self._homes[session]
            self._at_turns.discard(session)
            self._ended_tasks.pop(session, None)
            if session in self._agents:
                self._agents.discard(session)
                told.append(AgentState(session=session, state="none", why="died"))
            tasks = sorted(self._tasks.pop(session, ()))
            told += [TaskEnded(session=session, task=task, outcome="interrupted") for task in tasks]
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


def _told(run: RunTurn, left: Left | None) -> FromWorkerMessage:
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
