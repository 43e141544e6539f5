"""What an export tells of a conversation: rows of the store made into plain entries. Pure."""

from typing import Any, Final, Literal

from showcaller.actors.contract.views import Moment, ResultModel
from showcaller.actors.relay.terminal_text import render_tail
from showcaller.actors.relay.views import message_as_cut, stop_reason_of, task_as_cut, turn_seconds, via_text

TASK_LINES: Final = 500
"""Lines, from the end, that are told of what a task has written."""


class TranscriptMessage(ResultModel):
    """A prompt with what became of it, or a reply; ``truncated`` when its middle was left out.

    ``activity`` is what its agent did beside its text, in lines: thoughts, plans, tools, usage.
    """

    id: str
    role: Literal["user", "assistant"]
    at: Moment
    kind: str
    text: str
    via: str | None = None
    model: str | None = None
    mode: str | None = None
    status: str | None = None
    stop_reason: str | None = None
    error_text: str | None = None
    exit_code: int | None = None
    seconds: float | None = None
    reply_to: str | None = None
    truncated: bool | None = None
    activity: tuple[str, ...] | None = None


class TranscriptTask(ResultModel):
    """Something that ran in the background; ``output`` is its end, as far as it is kept."""

    id: str
    type: str
    description: str
    status: str
    exit_code: int | None = None
    started_at: Moment
    ended_at: Moment | None = None
    output: str | None = None


def message_entry(row: dict[str, Any], *, goes_on: bool = True) -> TranscriptMessage:
    """Give the entry of a message's row; without ``goes_on`` no relay runs that does what is under way."""
    row = row if goes_on else message_as_cut(row)
    is_prompt = row["role"] == "user"
    return TranscriptMessage(
        id=row["id"],
        role="user" if is_prompt else "assistant",
        at=row["created_at"],
        kind=row["kind"],
        text=row["text"],
        via=via_text(row["via"]),
        model=row["model"],
        mode=row["mode"],
        status=row["status"] if is_prompt else None,
        stop_reason=stop_reason_of(row["status"], row["stop_reason"]) if is_prompt else None,
        error_text=row["error_text"] if is_prompt else None,
        exit_code=row["exit_code"] if is_prompt else None,
        seconds=turn_seconds(row["seconds"]) if is_prompt else None,
        reply_to=row["reply_to"],
        truncated=True if row["truncated"] else None,
        activity=row["activity"] or None,
    )


def task_entry(row: dict[str, Any], *, goes_on: bool = True) -> TranscriptTask:
    """Give the entry of a task's row; ``goes_on`` as for messages."""
    row = row if goes_on else task_as_cut(row)
    output = None if row["tail"] is None else "\n".join(render_tail(row["tail"], TASK_LINES).lines)
    return TranscriptTask(
        id=row["id"],
        type=row["type"],
        description=row["description"],
        status=row["status"],
        exit_code=row["exit_code"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        output=output,
    )
