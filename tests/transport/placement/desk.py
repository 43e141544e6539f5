"""A pool of workers that are none, in the test's hands."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from showcaller.actors.contract.worker import FromWorkerMessage, RunTurn, ToWorkerMessage, TurnEnded
from showcaller.transport.placement.pool import Worker, WorkerPool
from showcaller.transport.worker.journal import SpoolJournal
from showcaller.transport.worker.spool import Spool
from showcaller.transport.worker.worker_folder import WorkerFolder


class FakeLink:
    def __init__(self) -> None:
        self.sent: list[ToWorkerMessage] = []
        self.closed = False
        self.deliver: Callable[[Sequence[FromWorkerMessage]], None] | None = None

    def connect(self, deliver: Callable[[Sequence[FromWorkerMessage]], None]) -> None:
        self.deliver = deliver

    def send(self, messages: Sequence[ToWorkerMessage]) -> None:
        self.sent.extend(messages)

    def close(self) -> None:
        self.closed = True

    def say(self, *messages: FromWorkerMessage) -> None:
        assert self.deliver is not None
        self.deliver(messages)


class FakeWorker:
    """A worker that does nothing; its spool is open until ``close_all``."""

    made: ClassVar[list["FakeWorker"]] = []

    def __init__(self, folder: Path) -> None:
        self.made.append(self)
        self.name = folder.name
        self.link = FakeLink()
        self.folder = WorkerFolder(folder)
        self.folder.make()
        self.journal = SpoolJournal(Spool(self.folder.spool))

    @classmethod
    def close_all(cls) -> None:
        while cls.made:
            cls.made.pop().journal.close()


class FakePlacement:
    """Starts workers that do nothing, or cannot."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.alive: list[FakeWorker] = []
        self.dead: list[WorkerFolder] = []
        self.started: list[FakeWorker] = []
        self.failing = 0
        self.silent = False
        self.calls: list[Callable[[], None]] = []
        self.asked_to_end: list[str] = []
        self.stubborn: set[str] = set()
        self.closed = False
        self.watched: dict[str, Callable[[], None]] = {}

    def find(self) -> tuple[Sequence[FakeWorker], Sequence[WorkerFolder]]:
        return self.alive, self.dead

    def watch(self, worker: Worker, died: Callable[[], None]) -> None:
        self.watched[worker.name] = died

    def died(self, name: str) -> None:
        self.watched.pop(name)()

    def start(self, name: str, called: Callable[[], None]) -> FakeWorker:
        if self.failing:
            self.failing -= 1
            raise OSError("no process can be had")
        self.started.append(FakeWorker(self.home / name))
        if self.silent:
            self.calls.append(called)
        else:
            called()
        return self.started[-1]

    def end(self, worker: str) -> None:
        self.asked_to_end.append(worker)
        if worker not in self.stubborn:
            self.died(worker)

    def close(self) -> None:
        self.closed = True


class Desk:
    def __init__(self, home: Path) -> None:
        self.placement = FakePlacement(home)
        self.names = iter(f"wrk_{n:012}" for n in range(1, 100))
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.came: list[FromWorkerMessage] = []
        self.now = 0.0

    def open(self, count: int = 1) -> WorkerPool:
        pool = WorkerPool(
            self.placement,
            count,
            lambda: next(self.names),
            lambda seconds, act: self.later.append((seconds, act)),
            lambda: self.now,
        )
        pool.connect(self.came.extend)
        return pool

    def time_passes(self) -> list[float]:
        """Do what was put off; gives for how long."""
        due, self.later = self.later, []
        for _, act in due:
            act()
        return [seconds for seconds, _ in due]


def run(session: str, turn: str, worker: str | None = None) -> RunTurn:
    return RunTurn(session=session, turn=turn, provider="command", text="true", worker=worker)


def ended(session: str, turn: str, **more: Any) -> TurnEnded:
    return TurnEnded(session=session, turn=turn, outcome="done", **more)
