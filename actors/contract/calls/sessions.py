"""Reading sessions and changing them, short of prompting them."""

from typing import ClassVar, Literal

from pydantic import Field

from showcaller.actors.contract.arguments import (
    CompactWindow,
    Count50,
    Count100,
    Count500,
    Line64,
    Line200,
    Line1000,
    MaxChars,
    Mode,
    ModeChoice,
    ScopeChoice,
    SessionName,
    Switch,
    Word,
)
from showcaller.actors.contract.calls.base import CallResult, RelayCall
from showcaller.actors.contract.views import (
    GroupMembers,
    GroupPlace,
    InFlight,
    MessageRow,
    Moment,
    PendingQuestion,
    ResultModel,
    SessionRow,
    SessionStates,
    TaskCounts,
    TaskInfo,
)


class ListSessions(RelayCall):
    """List sessions of a relay."""

    action: Literal["list_sessions"] = "list_sessions"
    scope: ScopeChoice = Field(
        default="recent",
        description="active: with a turn, a task or a card; recent: newest first; all: archived too.",
    )
    query: Line200 | None = Field(default=None, description="Only titles that contain this, in any case.")
    limit: Count100 = Field(default=20, description="How many to list.")
    cursor: Line1000 | None = Field(default=None, description="nextCursor of the page before.")


class ListSessionsResult(CallResult):
    """The answer to ``list_sessions``; ``next_cursor`` when there is more."""

    sessions: tuple[SessionRow, ...]
    next_cursor: str | None = None


class ReadSession(RelayCall):
    """Read the newest messages of a session and its states."""

    action: Literal["read_session"] = "read_session"
    session: SessionName = Field(description="The session's id.")
    last: Count50 = Field(default=10, description="How many messages.")
    max_chars: MaxChars = Field(
        default=12_000, description="Characters of text in all, newest messages first."
    )
    include_activity: Switch = Field(default=False, description="With what the agent did beside its text.")
    before: Line64 | None = Field(default=None, description="olderCursor of the page before.")


class ReadSessionResult(CallResult, SessionStates):
    """The answer to ``read_session``; ``older_cursor`` when there are older messages."""

    session: SessionRow
    messages: tuple[MessageRow, ...]
    in_flight: InFlight | None = None
    pending_questions: tuple[PendingQuestion, ...] = ()
    tasks: tuple[TaskInfo, ...] = ()
    group: GroupMembers | None = None
    older_cursor: str | None = None


class ReadTaskOutput(RelayCall):
    """Read the end of a background task's output, while it runs and for an hour after."""

    action: Literal["read_task_output"] = "read_task_output"
    session: SessionName = Field(description="The session's id.")
    task_id: Line64 = Field(description="The task's id, from tasks of read_session.")
    lines: Count500 = Field(default=50, description="How many lines, from the end.")


class TaskHead(ResultModel):
    """The task whose output is read; ``exit_code`` is None, written as null, while it has none."""

    null_said: ClassVar[frozenset[str]] = frozenset({"exit_code"})

    id: str
    description: str
    type: str
    status: str
    exit_code: int | None = None
    started_at: Moment


class Stall(ResultModel):
    """For how many minutes, and since when, a running task has been silent."""

    minutes: int = Field(ge=0)
    since: Moment
    quiet: bool
    quiet_after_minutes: int = Field(ge=1)


class ReadTaskOutputResult(CallResult):
    """The answer to ``read_task_output``; ``truncated`` when there is more before ``tail``."""

    task: TaskHead
    tail: tuple[str, ...]
    truncated: bool = False
    stall: Stall | None = None
    counts: TaskCounts | None = None


class UpdateSession(RelayCall):
    """Change the settings of another session for its next turns; needs at least one setting."""

    nothing: ClassVar[str] = "Nothing was changed."
    refuses_foreign: ClassVar[bool] = True
    one_of: ClassVar[tuple[str, ...]] = (
        "model",
        "effort",
        "mode",
        "title",
        "group",
        "cwd",
        "auto_compact_window",
        "thinking_enabled",
        "thinking_display",
    )

    action: Literal["update_session"] = "update_session"
    session: SessionName = Field(description="The session's id.")
    model: Line200 | None = Field(default=None, description="A model of the session's provider.")
    effort: Word | None = Field(default=None, description="How hard the model thinks.")
    mode: ModeChoice | None = Field(default=None, description="How freely the agent works.")
    title: Line200 | None = Field(default=None, description="The session's title.")
    group: Line200 | None = Field(
        default=None, description='An existing group\'s id or name, a new name, or "none" to leave its group.'
    )
    cwd: Line1000 | None = Field(
        default=None, description="The absolute folder to work in from now on; restarts the agent."
    )
    auto_compact_window: CompactWindow | None = Field(
        default=None, description='Tokens at which the agent compacts its context, or "auto".'
    )
    thinking_enabled: Switch | None = Field(
        default=None, description="Whether the model thinks before it answers; false turns it off."
    )
    thinking_display: Word | None = Field(default=None, description="How its thoughts are shown.")


class OwnersUpdate(UpdateSession):
    """An update as the owner of the relay may send it; no agent can, in whatever words."""

    one_of: ClassVar[tuple[str, ...]] = (*UpdateSession.one_of, "may_create_sessions")

    may_create_sessions: Switch | None = Field(
        default=None, description="Whether the agent of a session that an agent started may start sessions."
    )


class SessionSettings(ResultModel):
    """All settings of a session; what its provider does not have or nobody set is None, written as null."""

    null_said: ClassVar[frozenset[str]] = frozenset(
        {
            "model",
            "effort",
            "auto_compact_window",
            "group",
            "thinking_enabled",
            "thinking_display",
            "cwd",
        }
    )

    model: str | None = None
    effort: str | None = None
    mode: Mode
    auto_compact_window: int | Literal["auto"] | None = None
    title: str
    group: GroupPlace | None = None
    thinking_enabled: bool | None = None
    thinking_display: str | None = None
    cwd: str | None = None


class UpdateSessionResult(CallResult):
    """The answer to ``update_session``.

    ``changed`` holds names of arguments; ``relaunched`` says, after a change of folder, whether the agent was
    restarted; ``group_created`` that the group is a new one.
    """

    session: str
    settings: SessionSettings
    changed: tuple[str, ...]
    relaunched: bool | None = None
    group_created: bool | None = None


class Stop(RelayCall):
    """Stop the running turn of a session."""

    nothing: ClassVar[str] = "Nothing was stopped."

    action: Literal["stop"] = "stop"
    session: SessionName = Field(description="The session's id.")


class StopResult(CallResult):
    """The answer to ``stop``; ``stop_requested`` is false when nothing ran."""

    session: str
    stop_requested: bool


class Archive(RelayCall):
    """Archive a session that is not at work."""

    nothing: ClassVar[str] = "Nothing was archived."

    action: Literal["archive"] = "archive"
    session: SessionName = Field(description="The session's id.")


class ArchiveResult(CallResult):
    """The answer to ``archive``."""

    session: str
    archived: Literal[True] = True
