"""The background tasks of a simulated worker: begun within turns, they go on and end by themselves."""

from collections.abc import Callable
from random import Random

from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    RunTurn,
    TaskEnded,
    TaskOutcome,
    TaskOutput,
    TaskStarted,
)
from tests.simulation.books import Books
from tests.simulation.surroundings import Surroundings

CONTINUES = 0.3


class SimTasks:
    """What runs in the background of one worker."""

    def __init__(
        self,
        world: Surroundings,
        random: Random,
        books: Books,
        worker: str,
        say: Callable[[FromWorkerMessage], None],
    ) -> None:
        self._world = world
        self._random = random
        self._books = books
        self._worker = worker
        self._say = say
        self._count = 0
        self.running: dict[str, TaskStarted] = {}

    def start(self, run: RunTurn) -> None:
        """The agent leaves something running."""
        self._count += 1
        started = TaskStarted(
            session=run.session,
            task=f"{self._worker}-task{self._count}",
            type=self._random.choice(("agent", "command", "monitor")),
            description=f"task {self._count}",
        )
        self.running[started.task] = started
        self._books.tasks[started.session, started.task] = started
        self._say(started)
        for _ in range(self._random.choice((0, 1, 2))):
            self._in(lambda: self._write(started))
        self._in(lambda: self._end(started, self._random.choice(("done", "done", "failed"))))

    def _in(self, action: Callable[[], None]) -> None:
        seconds = self._random.choice((0.1, 10.0, 1000.0)) * self._random.random()
        self._world.work(seconds, action, owner=self._worker)

    def _write(self, started: TaskStarted) -> None:
        if started.task in self.running:
            self._say(TaskOutput(session=started.session, task=started.task, text=f"of {started.task}\n"))

    def _end(self, started: TaskStarted, outcome: TaskOutcome, *, by_itself: bool = True) -> None:
        if self.running.pop(started.task, None) is None:
            return
        end = TaskEnded(
            session=started.session,
            task=started.task,
            outcome=outcome,
            continues=by_itself and self._random.random() < CONTINUES,
        )
        self._books.task_ends[started.session, started.task] = end
        self._say(end)

    def kill(self, session: str) -> None:
        """The agent is ended with all that it has started."""
        for started in [task for task in self.running.values() if task.session == session]:
            self._end(started, "stopped", by_itself=False)
