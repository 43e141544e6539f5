"""``read_task_output``: the end of what a background task has written, as plain text."""

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.calls.sessions import Stall, TaskHead
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.summaries import quoted, summary
from showcaller.actors.relay.calls.background import COUNTED, health_of, may_be_read
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.messages import IfAwake, LookTask, TaskGlance, TaskTail
from showcaller.actors.relay.terminal_text import render_tail
from showcaller.actors.relay.test_counts import count_tests
from showcaller.actors.relay.views import task_as_cut


async def read_task_output(
    context: CallContext, call: calls.ReadTaskOutput, session: str
) -> results.ReadTaskOutputResult:
    """Give the last lines of a task that runs, or that ended within the last hour."""
    live: TaskTail | None = await context.ask(IfAwake(session, LookTask(call.task_id)))
    if live is not None:
        return _result(context, call, session, _running_head(live.task), live.raw, live.task, cut=live.cut)
    row: Row | None = await context.read("task", session=session, task=call.task_id)
    if row is None or not may_be_read(row, context.ports.clock.wall()):
        raise Refusal(
            Code.NOT_FOUND,
            f"Task {quote_foreign(call.task_id, 80)} neither runs in this session nor ended lately.",
            missing=[call.task_id],
        )
    if not context.ports.relay_runs():
        row = task_as_cut(row)
    if row["tail"] is None:
        context.notes.append(
            "It has not written anything."
            if row["ended_at"] is not None
            else "Its output cannot be read now."
        )
    return _result(context, call, session, _ended_head(row), row["tail"] or "", None, cut=False)


def _result(
    context: CallContext,
    call: calls.ReadTaskOutput,
    session: str,
    head: TaskHead,
    raw: str,
    running: TaskGlance | None,
    *,
    cut: bool,
) -> results.ReadTaskOutputResult:
    text = render_tail(raw, COUNTED, cut=cut)
    tail, more = text.lines[-call.lines :], text.truncated or len(text.lines) > call.lines
    if running is not None and not tail:
        context.notes.append("It has not written anything yet: call again in a few seconds.")
    if cut and tail and len(text.lines) <= call.lines:
        context.notes.append("Only the end of its output is kept.")
    return results.ReadTaskOutputResult(
        relay=context.relay,
        summary=summary("read_task_output", quoted(head.description), relay=context.relay, session=session),
        task=head,
        tail=tail,
        truncated=more,
        stall=None if running is None else _stall(context, running),
        counts=count_tests(text.lines),
    )


def _running_head(task: TaskGlance) -> TaskHead:
    return TaskHead(
        id=task.id,
        description=task.description,
        type=task.type,
        status=task.status,
        started_at=task.started_at,
    )


def _ended_head(row: Row) -> TaskHead:
    return TaskHead(
        id=row["id"],
        description=row["description"],
        type=row["type"],
        status=row["status"],
        exit_code=row["exit_code"],
        started_at=row["started_at"],
    )


def _stall(context: CallContext, task: TaskGlance) -> Stall:
    health = health_of(task.last_output_at, context.ports.clock.wall(), context.settings.quiet_after_minutes)
    return Stall(
        minutes=health.minutes_since_output,
        since=task.last_output_at,
        quiet=health.quiet,
        quiet_after_minutes=health.quiet_after_minutes,
    )
