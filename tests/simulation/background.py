"""The background tasks of a simulated worker: begun within turns, they go on and end by themselves.

It keeps what the real one promises: each is kept until its end is stored, told to every relay that comes, and
told once more with all that it has written to whoever asks.
"""

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
        self.written: dict[str, str] = {}
        self._unstored: dict[str, TaskEnded] = {}

    def start(self, run: RunTurn) -> None:
        """The agent leaves something running."""
        self._count += 1
        started = TaskStarted(
            session=run.session,
            task=f"{self._worker}-task{self._count}",
            type=self._random.choice(("agent", "command", "monitor")),
            description=f"task {self._count}",
            turn=run.turn,
        )
        self.running[started.task] = started
        self.written[started.task] = ""
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
            line = f"line {self.written[started.task].count(chr(10))} of {started.task}\n"
            self.written[started.task] += line
            self._say(TaskOutput(session=started.session, task=started.task, text=line))

    def _end(self, started: TaskStarted, outcome: TaskOutcome, *, by_itself: bool = True) -> None:
        if self.running.pop(started.task, None) is None:
            return
        end = TaskEnded(
            session=started.session,
            task=started.task,
            outcome=outcome,
            continues=by_itself and self._random.random() < CONTINUES,
            output=self.written.pop(started.task),
        )
        self._unstored[started.task] = end
        self._books.task_ends[started.session, started.task] = end
        self._say(end)

    def kill(self, session: str) -> None:
        """The agent is ended with all that it has started."""
        for started in [task for task in self.running.values() if task.session == session]:
            self._end(started, "stopped", by_itself=False)

    # -- what a relay asks -------------------------------------------------------------------------

    def tell_all(self) -> None:
        """Tell a relay that has just come which tasks there are."""
        for started in [self._books.tasks[end.session, end.task] for end in self._unstored.values()]:
            self._say(started)
            self._say(self._unstored[started.task])
        for started in list(self.running.values()):
            self._say(started)

    def ask(self, session: str, task: str) -> None:
        """Tell all that there is of a task."""
        end = self._unstored.get(task, TaskEnded(session=session, task=task, outcome="interrupted"))
        if task in self.running:
            self._say(TaskOutput(session=session, task=task, text=self.written[task], again=True))
        else:
            self._say(end)

    def stored(self, task: str) -> None:
        """The relay has stored the end of a task."""
        self._unstored.pop(task, None)
