"""Commands about what runs in the background of a session."""

import sqlite3
from typing import Any, NotRequired, TypedDict

from showcaller.store.commands.holds import refuse_archived
from showcaller.store.commands.idling import tell_all_idle
from showcaller.store.commands.queue import append_event, touch_session
from showcaller.store.conflict import Conflict
from showcaller.store.models import Task, literal
from showcaller.store.statement import Slot, Statement, insertion

ENDS = frozenset({"done", "failed", "stopped", "interrupted"})


class NewTask(TypedDict):
    """A background task as its session's side gives it; ``message`` is the turn in which it began."""

    id: str
    session: str
    worker_task: str
    type: str
    description: str
    message: NotRequired[str | None]


_GIVEN = frozenset(NewTask.__annotations__)
_INSERT = insertion(Task)
_SAME = Statement(
    Task.select(Task.id).where(Task.session == Slot("session"), Task.worker_task == Slot("worker_task"))
)
_END = Statement(
    Task.update(status=Slot("status"), exit_code=Slot("exit_code"), ended_at=Slot("at"), tail=Slot("tail"))
    .where(Task.id == Slot("task"), Task.status == literal("running"))
    .returning(Task.session, Task.message, Task.type, Task.description)
)
_STATUS = Statement(Task.select(Task.status).where(Task.id == Slot("task")))
_ALL_RUNNING = Statement(
    Task.select(Task.id, Task.session)
    .where(Task.status == literal("running"))
    .order_by(Task.started_at, Task.id)
)


def start_task(db: sqlite3.Connection, task: NewTask, at: int) -> dict[str, Any]:
    """Note that something runs in the background of a session from now on.

    Gives ``{"event"}``, the cursor of ``task_started``, or ``{"duplicate"}``, the id of the task that the
    session has under the same ``worker_task``. Raises Conflict ``missing`` or ``archived`` (the session).
    """
    foreign = task.keys() - _GIVEN
    if foreign:
        raise TypeError(f"a new task does not take: {', '.join(sorted(foreign))}")
    session = task["session"]
    known = _SAME.row(db, session=session, worker_task=task["worker_task"])
    if known is not None:
        return {"duplicate": known[0]}
    refuse_archived(db, session)
    message = task.get("message")
    _INSERT.run(
        db,
        **{
            **task,
            "message": message,
            "status": "running",
            "exit_code": None,
            "started_at": at,
            "ended_at": None,
            "tail": None,
        },
    )
    touch_session(db, session, at)
    event = append_event(db, session, "task_started", at, message, task["description"], task["id"])
    return {"event": event}


def end_task(
    db: sqlite3.Connection, *, task: str, status: str, exit_code: int | None, tail: str | None, at: int
) -> dict[str, Any]:
    """Record the one end of a task: ``done``, ``failed``, ``stopped`` or ``interrupted``; ``tail`` is raw.

    Gives ``{"events"}``, the cursors of what it appended: ``task_failed`` for one that failed, was cut or
    gave an exit code that says so, ``subagent_finished`` for an agent, and ``task_finished`` when neither
    fits. Raises Conflict ``missing`` or ``ended``.
    """
    if status not in ENDS:
        raise ValueError(f"a task does not end as {status!r}")
    row = _END.row(db, task=task, status=status, exit_code=exit_code, tail=tail, at=at)
    if row is None:
        raise _not_running(db, task)
    session, message, kind_of_task, description = row
    touch_session(db, session, at)
    kinds = end_events(kind_of_task, status, exit_code)
    events = [append_event(db, session, kind, at, message, description, task) for kind in kinds]
    tell_all_idle(db, session, at)
    return {"events": events}


def end_events(kind: str, status: str, exit_code: int | None) -> list[str]:
    """Name the events that tell of a task's end."""
    failed = status in {"failed", "interrupted"} or (status == "done" and bool(exit_code))
    told = ["task_failed"] if failed else []
    if kind == "agent":
        told.append("subagent_finished")
    return told or ["task_finished"]


def interrupt_tasks(db: sqlite3.Connection, at: int, spare: frozenset[str], sessions: frozenset[str]) -> None:
    """End every running task as ``interrupted``, but for those to ``spare`` and those of ``sessions``."""
    for task, session in _ALL_RUNNING.rows(db):
        if task in spare or session in sessions:
            continue
        end_task(db, task=task, status="interrupted", exit_code=None, tail=None, at=at)


def _not_running(db: sqlite3.Connection, task: str) -> Conflict:
    row = _STATUS.row(db, task=task)
    if row is None:
        return Conflict("missing", f"there is no task {task}")
    return Conflict("ended", f"task {task} is {row[0]}")
