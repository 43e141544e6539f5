"""The background tasks of a session's actor: what its workers tell of them, and that it gets stored."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from showcaller.actors.contract.worker import (
    AskTask,
    KillAgent,
    TaskEnded,
    TaskOutput,
    TaskStarted,
    TaskStored,
)
from showcaller.actors.relay.at_workers import AtWorkers
from showcaller.actors.relay.messages import TaskGlance, TaskTail
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.session_tags import ForTask
from showcaller.actors.relay.tasks import Tasks, TaskWrite
from showcaller.store.batch import Answer

logger = logging.getLogger("showcaller.relay")


class TryTasks(NamedTuple):
    """To the session itself: the pause after the store refused something about a task is over."""


class Background:
    """Keeps a session's tasks. ``write`` hands the writer a command with a tag."""

    def __init__(
        self,
        session: str,
        ports: Ports,
        at_workers: AtWorkers,
        write: Callable[[str, dict[str, Any], ForTask], None],
    ) -> None:
        self._session = session
        self._ports = ports
        self._at_workers = at_workers
        self._write = write
        self._tasks = Tasks(session)

    def __bool__(self) -> bool:
        """Whether a task runs, or its end is not stored yet."""
        return bool(self._tasks)

    @property
    def running(self) -> tuple[TaskGlance, ...]:
        """The tasks that run."""
        return self._tasks.running

    def has_of(self, turn: str) -> bool:
        """Whether a task that this turn began runs, or its end is not stored yet."""
        return self._tasks.has_of(turn)

    def look(self, task: str) -> TaskTail | None:
        """Give a task's output; None when none of that id is here."""
        return self._tasks.look(task)

    def load(self, rows: list[dict[str, Any]]) -> None:
        """Take up what the store has as running, and what workers have told since; ask for their output."""
        for row in rows:
            self._tasks.find(row)
        self._ask(self._tasks.names)
        for frame in self._at_workers.task_frames(self._session):
            if isinstance(frame, TaskStarted):
                self.started(frame, None)
            else:
                self.ended(frame)

    def _ask(self, names: Sequence[str]) -> None:
        """Have their worker tell all that is kept of these tasks' output."""
        if names:
            self._ports.workers.send([AskTask(session=self._session, task=name) for name in names])

    def started(self, frame: TaskStarted, turn: str | None) -> None:
        """A task has begun: in the turn that it names, else in ``turn``.

        It may have begun under an earlier relay, which heard what it wrote and had stored nothing of it.
        """
        begun_in, at = frame.turn or turn, self._ports.clock.wall()
        if self._tasks.start(frame, self._ports.new_id("tsk_"), begun_in, at):
            self._ask([frame.task])
        self.store()

    def wrote(self, frame: TaskOutput) -> None:
        """A task has written something."""
        self._tasks.write(frame, self._ports.clock.wall())

    def ended(self, frame: TaskEnded) -> None:
        """A task has its end; that of one which is not here any more is stored, or never will be."""
        if self._tasks.finish(frame):
            self.store()
        else:
            self._over(frame.task)

    def store(self) -> None:
        """Have stored what is due; also what was put off because the store refused it."""
        for write in self._tasks.due(self._ports.clock.wall()):
            self._write(write.command, write.arguments, ForTask(write))

    def written(self, write: TaskWrite, answer: Answer) -> Literal["stored", "continues", "again"]:
        """Take what became of a write; ``continues``: the agent goes on by itself after the task's end."""
        if answer.error == "storage":
            self._tasks.put_off(write)
            return "again"
        if write.command == "start_task":
            self._at_workers.task_stored(self._session, write.name, "task_started")
        if answer.error is not None:
            self._not_stored(write, answer)
        if answer.error is not None or "duplicate" in answer.value:  # a late word of one that has ended
            self._tasks.drop(write)
            self._over(write.name)
            return "stored"
        end = self._tasks.stored(write)
        if end is not None:
            self._over(write.name)
        self.store()
        return "continues" if end is not None and end.continues else "stored"

    def _not_stored(self, write: TaskWrite, answer: Answer) -> None:
        logger.error("%s of task %s was not stored: %s", write.command, write.name, answer.detail)
        if write.command == "start_task" and answer.error == "conflict":
            # There is no such session, or none that works: nobody would ever see what runs there.
            self._ports.workers.send([KillAgent(session=self._session)])

    def _over(self, task: str) -> None:
        """Nothing more is to be stored of a task: nobody need keep its end."""
        self._at_workers.task_stored(self._session, task, "task_ended")
        self._ports.workers.send([TaskStored(session=self._session, task=task)])
