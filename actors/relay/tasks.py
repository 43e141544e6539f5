"""What runs in the background of a session: its tasks with the ends of their output, and what to store."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from showcaller.actors.contract.limits import TASK_OUTPUT_KEPT
from showcaller.actors.contract.worker import TaskEnded, TaskOutput, TaskStarted, TaskType
from showcaller.actors.relay.messages import TaskGlance, TaskTail
from showcaller.actors.relay.tail import Tail


class TaskWrite(NamedTuple):
    """A command of the store that is due for a task, and what it takes; ``name`` is the worker's."""

    command: str
    arguments: dict[str, Any]
    name: str


@dataclass(slots=True)
class Task:
    """A task from its worker's word that it runs until its end is stored; times in milliseconds (UTC)."""

    id: str
    name: str
    type: TaskType
    description: str
    message: str | None
    started_at: int
    last_output_at: int
    is_stored: bool = False
    is_writing: bool = False
    end: TaskEnded | None = None
    tail: Tail = field(default_factory=lambda: Tail(TASK_OUTPUT_KEPT))

    @property
    def glance(self) -> TaskGlance:
        """The task as those see it who ask."""
        return TaskGlance(
            id=self.id,
            type=self.type,
            description=self.description,
            status="running",
            started_at=self.started_at,
            last_output_at=self.last_output_at,
            has_output=bool(self.tail),
        )


class Tasks:
    """The tasks of one session. What a worker says twice, or of tasks unknown here, changes nothing."""

    __slots__ = ("_by_name", "_session")

    def __init__(self, session: str) -> None:
        self._session = session
        self._by_name: dict[str, Task] = {}

    def __bool__(self) -> bool:
        """Whether a task runs, or has ended without that being stored."""
        return bool(self._by_name)

    @property
    def running(self) -> tuple[TaskGlance, ...]:
        """Those that run, oldest first."""
        return tuple(task.glance for task in self._by_name.values() if task.end is None)

    def has_of(self, turn: str) -> bool:
        """Whether a task that this turn began runs, or has ended without that being stored."""
        return any(task.message == turn for task in self._by_name.values())

    @property
    def names(self) -> tuple[str, ...]:
        """What their workers call those that run."""
        return tuple(name for name, task in self._by_name.items() if task.end is None)

    def look(self, task_id: str) -> TaskTail | None:
        """Give a task's output; None when none of that id is here."""
        for task in self._by_name.values():
            if task.id == task_id:
                return TaskTail(task.glance, task.tail.text, task.tail.cut)
        return None

    # -- what is told of them ----------------------------------------------------------------------

    def find(self, row: dict[str, Any]) -> None:
        """Take up a task that the store has as running; its worker is to be asked what it wrote before."""
        self._by_name[row["worker_task"]] = Task(
            id=row["id"],
            name=row["worker_task"],
            type=row["type"],
            description=row["description"],
            message=row["message"],
            started_at=row["started_at"],
            last_output_at=row["started_at"],
            is_stored=True,
        )

    def start(self, frame: TaskStarted, task_id: str, message: str | None, at: int) -> bool:
        """A task has begun, in the turn of ``message`` if there is one; False when it is known already."""
        if frame.task in self._by_name:
            return False
        self._by_name[frame.task] = Task(task_id, frame.task, frame.type, frame.description, message, at, at)
        return True

    def write(self, frame: TaskOutput, at: int) -> None:
        """A task has written something."""
        task = self._by_name.get(frame.task)
        if task is not None and task.end is None:
            if frame.again:
                task.tail.clear()
            task.tail.add(frame.text)
            task.last_output_at = at - int(frame.silent * 1000)

    def finish(self, frame: TaskEnded) -> bool:
        """A task has its end; only the first counts. Tells whether there is such a task."""
        task = self._by_name.get(frame.task)
        if task is not None and task.end is None:
            task.end = frame
            if frame.output is not None:
                task.tail.clear()
                task.tail.add(frame.output)
        return task is not None

    # -- what is stored of them --------------------------------------------------------------------

    def due(self, at: int) -> list[TaskWrite]:
        """Give what is to be stored now: first a task's beginning, then its end, one at a time."""
        writes: list[TaskWrite] = []
        for task in self._by_name.values():
            if task.is_writing or (task.is_stored and task.end is None):
                continue
            task.is_writing = True
            writes.append(self._ending(task, at) if task.is_stored else self._beginning(task))
        return writes

    def _beginning(self, task: Task) -> TaskWrite:
        row = {
            "id": task.id,
            "session": self._session,
            "worker_task": task.name,
            "type": task.type,
            "description": task.description,
            "message": task.message,
        }
        return TaskWrite("start_task", {"task": row, "at": task.started_at}, task.name)

    def _ending(self, task: Task, at: int) -> TaskWrite:
        assert task.end is not None
        arguments = {
            "task": task.id,
            "status": task.end.outcome,
            "exit_code": task.end.exit_code,
            "tail": task.tail.text or None,
            "at": at,
        }
        return TaskWrite("end_task", arguments, task.name)

    def stored(self, write: TaskWrite) -> TaskEnded | None:
        """A command is committed; gives the end of the task when it was that."""
        task = self._by_name.get(write.name)
        if task is None:
            return None
        task.is_writing = False
        task.is_stored = True
        return self.drop(write) if write.command == "end_task" else None

    def put_off(self, write: TaskWrite) -> None:
        """A command could not be committed now: it is due again."""
        task = self._by_name.get(write.name)
        if task is not None:
            task.is_writing = False

    def drop(self, write: TaskWrite) -> TaskEnded | None:
        """Forget a task; gives its end, if it has one."""
        task = self._by_name.pop(write.name, None)
        return None if task is None else task.end
