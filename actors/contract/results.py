"""What calls give back: one model for each built action; ``to_result`` makes the JSON object of it."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from showcaller.actors.contract.arguments import Mode
from showcaller.actors.contract.limits import PROGRESS_ACTIVITIES, PROGRESS_CHARACTERS, REPLY_CHARACTERS
from showcaller.actors.contract.views import (
    GroupMembers,
    GroupPlace,
    InFlight,
    MessageRow,
    PendingQuestion,
    ResultModel,
    SessionRow,
    SessionStates,
    TaskInfo,
)
from showcaller.actors.contract.worker import ErrorClass, StopReason

PromptStatus = Literal[
    "queued", "running", "waiting_for_answer", "done", "failed", "stopped", "cancelled", "duplicate"
]
ModelSource = Literal["requested", "caller", "default"]


class CallResult(ResultModel):
    """What every success says: the ``relay`` worked on, a ``summary`` in one line, and what was not as sent.

    ``note`` is one or more sentences; ``ignored`` names arguments that the action does not take.
    """

    ok: Literal[True] = True
    relay: str
    summary: str
    note: str | None = None
    ignored: tuple[str, ...] | None = None

    def to_result(self) -> dict[str, Any]:
        """Give the JSON object that the caller reads."""
        return self.model_dump(mode="json", by_alias=True)


class ListSessionsResult(CallResult):
    """The answer to ``list_sessions``; ``next_cursor`` when there is more."""

    sessions: tuple[SessionRow, ...]
    next_cursor: str | None = None


class ReadSessionResult(CallResult, SessionStates):
    """The answer to ``read_session``; ``older_cursor`` when there are older messages."""

    session: SessionRow
    messages: tuple[MessageRow, ...]
    in_flight: InFlight | None = None
    pending_questions: tuple[PendingQuestion, ...] = ()
    tasks: tuple[TaskInfo, ...] = ()
    group: GroupMembers | None = None
    older_cursor: str | None = None


class Reply(ResultModel):
    """A finished reply; ``own_message_id`` is written ``messageId``; longer text is ``truncated``."""

    text: str = Field(max_length=REPLY_CHARACTERS)
    model: str | None = None
    own_message_id: str = Field(serialization_alias="messageId")
    truncated: bool = False


class Background(ResultModel):
    """Work that goes on after the reply."""

    running: int = Field(ge=0)
    tasks: tuple[TaskInfo, ...] = ()


class Progress(ResultModel):
    """How far a running turn is: the end of its text and its last activities."""

    status: str
    text: str = Field(default="", max_length=PROGRESS_CHARACTERS)
    activity: tuple[str, ...] = Field(default=(), max_length=PROGRESS_ACTIVITIES)


class PromptResult(CallResult):
    """The answer to ``send`` and ``wait``: what became of a prompt so far.

    ``status`` says which fields are there; ``approvals_pending`` counts cards that an agent does not see;
    ``steered`` when it joined a running turn; ``open_url`` when the relay has an address.
    """

    session: str
    message_id: str
    status: PromptStatus
    stop_reason: StopReason | None = None
    error_class: ErrorClass | None = None
    error_text: str | None = None
    reply: Reply | None = None
    background: Background | None = None
    pending_questions: tuple[PendingQuestion, ...] | None = None
    approvals_pending: int | None = Field(default=None, ge=1)
    progress: Progress | None = None
    steered: bool | None = None
    open_url: str | None = None


class CreateSessionResult(PromptResult):
    """The answer to ``create_session``: what became of its prompt, and with what the session was started."""

    null_said: ClassVar[frozenset[str]] = frozenset({"group"})

    provider: str
    model: str | None = None
    model_source: ModelSource
    model_note: str | None = None
    mode: Mode
    effort: str | None = None
    title: str
    cwd: str | None = None
    repo: str | None = None
    branch: str | None = None
    group: GroupPlace | None = None
    group_warning: str | None = None
