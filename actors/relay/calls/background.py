"""What runs in the background of sessions, as callers read of it."""

from collections.abc import Iterable
from typing import Final

from showcaller.actors.contract import results
from showcaller.actors.contract.limits import TASK_OUTPUT_MINUTES
from showcaller.actors.contract.views import TaskCounts, TaskHealth, TaskInfo
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.messages import Glance, IfAwake, Look, LookTask, TaskGlance, TaskTail
from showcaller.actors.relay.terminal_text import render_tail
from showcaller.actors.relay.test_counts import count_tests
from showcaller.actors.relay.views import task_as_cut

MINUTE: Final = 60_000
COUNTED: Final = 500
"""Lines, from the end, among which the counts of a test run are looked for."""


async def glance_at(context: CallContext, session: str) -> Glance | None:
    """Look at a session that is awake; None when it sleeps."""
    glance: Glance | None = await context.ask(IfAwake(session, Look()))
    return glance


async def background_of(context: CallContext, session: str, turn: str) -> results.Background | None:
    """Give what a turn has left running; None when nothing of it runs."""
    glance = await glance_at(context, session)
    if glance is None or not glance.tasks:
        return None
    row: Row = await context.read("load_session", session=session)
    of_turn = {task["id"] for task in row["tasks"] if task["message"] == turn}
    tasks = task_views(context, (task for task in glance.tasks if task.id in of_turn))
    return results.Background(running=len(tasks), tasks=tasks) if tasks else None


def task_views(context: CallContext, tasks: Iterable[TaskGlance]) -> tuple[TaskInfo, ...]:
    """Give running tasks as lists show them."""
    now, quiet_after = context.ports.clock.wall(), context.settings.quiet_after_minutes
    return tuple(running_task(task, now, quiet_after) for task in tasks)


def running_task(task: TaskGlance, now: int, quiet_after: int) -> TaskInfo:
    """Give a running task as a caller reads of it; ``now`` in milliseconds, ``quiet_after`` in minutes."""
    return TaskInfo(
        id=task.id,
        type=task.type,
        description=task.description,
        status=task.status,
        output=task.has_output,
        health=health_of(task.last_output_at, now, quiet_after),
    )


def health_of(last_output_at: int, now: int, quiet_after: int) -> TaskHealth:
    """Say whether a running task still talks."""
    minutes = max(0, now - last_output_at) // MINUTE
    return TaskHealth(
        minutes_since_output=minutes, quiet=minutes >= quiet_after, quiet_after_minutes=quiet_after
    )


async def tasks_of(context: CallContext, session: str, glance: Glance | None) -> tuple[TaskInfo, ...]:
    """Give the tasks that run in a session, and those that ended so lately that their output can be read."""
    stored: list[Row] = await context.read("tasks", session=session)
    rows = stored if context.ports.relay_runs() else [task_as_cut(row) for row in stored]
    running = {task.id: task for task in (glance.tasks if glance is not None else ())}
    now, quiet_after = context.ports.clock.wall(), context.settings.quiet_after_minutes
    shown: list[TaskInfo] = []
    for row in rows:
        task = running.get(row["id"])
        if task is not None:
            tail: TaskTail | None = await context.ask(IfAwake(session, LookTask(task.id)))
            counts = None if tail is None else counts_in(tail.raw, cut=tail.cut)
            shown.append(running_task(task, now, quiet_after).model_copy(update={"counts": counts}))
        elif may_be_read(row, now):
            shown.append(ended_task(row))
    return tuple(shown)


def may_be_read(row: Row, now: int) -> bool:
    """Tell whether a task runs, or ended so lately that its output is kept for readers."""
    return row["ended_at"] is None or now - row["ended_at"] < TASK_OUTPUT_MINUTES * MINUTE


def ended_task(row: Row) -> TaskInfo:
    """Give a task as the store knows it."""
    return TaskInfo(
        id=row["id"],
        type=row["type"],
        description=row["description"],
        status=row["status"],
        output=bool(row["tail"]),
        counts=None if row["tail"] is None else counts_in(row["tail"]),
    )


def counts_in(raw: str, *, cut: bool = False) -> TaskCounts | None:
    """Count the tests of the run whose raw output this is, or the end of it; None when it is none."""
    return count_tests(render_tail(raw, COUNTED, cut=cut).lines)
