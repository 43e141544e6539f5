"""Prompting sessions, starting them, and waiting for their replies."""

from typing import ClassVar, Literal

from pydantic import Field

from showcaller.actors.contract.arguments import (
    Branch,
    IfBusyChoice,
    Line64,
    Line200,
    Line1000,
    Mode,
    ModeChoice,
    Prompt,
    Repository,
    SessionName,
    WaitSeconds,
    Word,
)
from showcaller.actors.contract.calls.base import CallResult, RelayCall
from showcaller.actors.contract.limits import (
    DEFAULT_WAIT_SECONDS,
    PROGRESS_ACTIVITIES,
    PROGRESS_CHARACTERS,
    REPLY_CHARACTERS,
)
from showcaller.actors.contract.views import GroupPlace, Moment, PendingQuestion, ResultModel, TaskInfo
from showcaller.actors.contract.worker import ErrorClass, StopReason

PromptStatus = Literal[
    "queued", "running", "waiting_for_answer", "done", "failed", "stopped", "cancelled", "duplicate"
]
ModelSource = Literal["requested", "caller", "default"]


class Send(RelayCall):
    """Prompt a session, and wait for its reply."""

    nothing: ClassVar[str] = "Nothing was sent."

    action: Literal["send"] = "send"
    session: SessionName = Field(description="The session's id.")
    text: Prompt = Field(description="The prompt, as the other agent will read it.")
    wait_seconds: WaitSeconds = Field(
        default=DEFAULT_WAIT_SECONDS, description="Seconds to wait for the reply; 0 to return at once."
    )
    model: Line200 | None = Field(default=None, description="A model of the session's provider.")
    mode: ModeChoice | None = Field(default=None, description="How freely the other agent works.")
    effort: Word | None = Field(default=None, description="How hard the model thinks.")
    if_busy: IfBusyChoice = Field(
        default="queue", description="fail refuses when a turn of the session is queued or running."
    )
    provider: Line64 | None = Field(
        default=None, description="Moves the session to another provider that bills the same agent."
    )


class CreateSession(RelayCall):
    """Start a new session with a prompt, and wait for its reply."""

    nothing: ClassVar[str] = "Nothing was created."
    refuses_foreign: ClassVar[bool] = True

    action: Literal["create_session"] = "create_session"
    text: Prompt = Field(description="The prompt; the new session knows nothing else.")
    provider: Line64 | None = Field(default=None, description="Which agent; else the caller's own.")
    model: Line200 | None = Field(default=None, description="A model of the provider.")
    cwd: Line1000 | None = Field(
        default=None, description="The absolute folder to work in; else where the relay was started."
    )
    repo: Repository | None = Field(
        default=None,
        description="For providers that work on a clone: an https or ssh address, or owner/name.",
    )
    branch: Branch | None = Field(default=None, description="The branch of repo.")
    mode: ModeChoice | None = Field(default=None, description="How freely the agent works.")
    effort: Word | None = Field(default=None, description="How hard the model thinks.")
    title: Line200 | None = Field(
        default=None, description="The session's title; else the prompt's first line."
    )
    group: Line200 | None = Field(default=None, description="An existing group's id or name.")
    wait_seconds: WaitSeconds = Field(
        default=DEFAULT_WAIT_SECONDS, description="Seconds to wait for the reply; 0 to return at once."
    )


class Wait(RelayCall):
    """Wait for the reply to a message that was sent before."""

    not_external: ClassVar[frozenset[str]] = frozenset({"session", "message_id"})

    action: Literal["wait"] = "wait"
    session: SessionName | None = Field(default=None, description="The session's id.")
    message_id: Line64 | None = Field(
        default=None, description="The message's id, from send or create_session."
    )
    wait_seconds: WaitSeconds = Field(default=DEFAULT_WAIT_SECONDS, description="Seconds to wait.")


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

    status: PromptStatus
    text: str = Field(default="", max_length=PROGRESS_CHARACTERS)
    activity: tuple[str, ...] = Field(default=(), max_length=PROGRESS_ACTIVITIES)


class PromptResult(CallResult):
    """The answer to ``send`` and ``wait``: what became of a prompt so far.

    ``status`` says which fields are there; ``approvals_pending`` counts cards that an agent does not see;
    ``steered`` when it joined a running turn; ``seconds`` is how long its turn ran; ``open_url`` when the
    relay has an address.
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
    seconds: float | None = Field(default=None, ge=0)
    open_url: str | None = None


class GivenMessage(ResultModel):
    """A message for an external conversation, as it comes with the answer to one of its calls.

    ``origin`` says who sent it; ``via`` which agent; the same ``id`` may come again until a call after it.
    """

    id: str
    at: Moment
    origin: str
    via: str | None = None
    text: str


class MessagesResult(CallResult):
    """The answer to a ``wait`` without a message: what came is in ``messages``, as with any other call."""

    messages: tuple[GivenMessage, ...] | None = None


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
