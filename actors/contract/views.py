"""The objects that results hold: sessions and their states, tasks, groups, messages, questions.

Names become camelCase on the way out, except those that a caller passes back as arguments. Times are
milliseconds since the epoch here and ISO 8601 text there. What is None is absent from the JSON, unless None
says something.
"""

from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from showcaller.actors.contract.field_names import result_name
from showcaller.actors.contract.times import time_text

Moment = Annotated[int, PlainSerializer(time_text, return_type=str)]
"""Milliseconds since the epoch, written as ISO 8601 in UTC."""

State = Literal["running_turn", "background_only", "idle"]
Waiting = Literal["approval", "permission", "question", "limit"]
LastTurn = Literal["done", "failed", "stopped", "interrupted"]
Process = Literal["none", "starting", "alive"]
Role = Literal["head", "member"]
QuestionKind = Literal["permission", "ask_user", "ask"]


class ResultModel(BaseModel):
    """Base of results and of what is in them; ``null_said`` names fields whose None is written as null."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=result_name,
        validate_by_name=True,
        validate_by_alias=True,
        allow_inf_nan=False,
        protected_namespaces=(),
    )

    null_said: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        said = _names_of(self.null_said)
        return {name: value for name, value in written.items() if value is not None or name in said}


@cache
def _names_of(fields: frozenset[str]) -> frozenset[str]:
    """Give the names under which these fields may be written."""
    return fields.union(map(result_name, fields))


class SessionTitle(ResultModel):
    """A session, named where its states do not matter."""

    id: str
    title: str


class SessionStates(ResultModel):
    """How a session is: the same fields in every door.

    ``waiting`` is why it waits, None when it does not; ``queued`` counts messages that no turn has taken;
    ``last_turn`` is None before the first end; ``last_words_ask`` is a hint that the last reply ends in a
    question.
    """

    state: State
    waiting: Waiting | None = None
    queued: int = Field(default=0, ge=0)
    last_turn: LastTurn | None = None
    process: Process = "none"
    last_words_ask: bool = False


class TaskCounts(ResultModel):
    """The counts of a test run; ``final`` when the run has ended."""

    runner: str
    passed: int = Field(ge=0)
    failed: int = Field(ge=0)
    skipped: int = Field(ge=0)
    final: bool


class TaskHealth(ResultModel):
    """Whether a running task still talks."""

    minutes_since_output: int = Field(ge=0)
    quiet: bool
    quiet_after_minutes: int = Field(ge=1)


class TaskInfo(ResultModel):
    """A background agent or command; ``output`` says whether there is output to read."""

    id: str
    type: str
    description: str
    status: str
    output: bool = False
    health: TaskHealth | None = None
    counts: TaskCounts | None = None


class GroupPlace(ResultModel):
    """The group a session is in, and its place there."""

    id: str
    name: str
    role: Role


class GroupMember(ResultModel):
    """Another session of the group."""

    id: str
    title: str
    role: Role
    state: State
    archived: bool = False


class GroupMembers(GroupPlace):
    """The group a session is in with up to 50 other members."""

    members: tuple[GroupMember, ...] = Field(default=(), max_length=50)


class SessionRow(SessionStates):
    """A session in a list; ``created_by`` is who started it; ``agent_session_id`` the agent's own id."""

    id: str
    title: str
    provider: str
    model: str | None = None
    cwd: str | None = None
    last_activity_at: Moment
    message_count: int = Field(ge=0)
    tasks: tuple[TaskInfo, ...] = ()
    group: GroupPlace | None = None
    created_by: str
    started_by_you: bool = False
    may_create_sessions: bool | None = None
    agent_session_id: str | None = None
    archived: bool | None = None


class MessageRow(ResultModel):
    """A message of a conversation; ``via`` is where it came from; ``truncated`` when its middle was cut."""

    id: str
    role: Literal["user", "assistant", "system"]
    at: Moment
    kind: str | None = None
    model: str | None = None
    text: str
    via: str | None = None
    truncated: bool | None = None
    activity: tuple[str, ...] | None = None


class InFlight(ResultModel):
    """A reply that is still being written."""

    message_id: str
    started_at: Moment
    text: str
    last_activity: str | None = None


class PendingQuestion(ResultModel):
    """A question that waits for an answer; approvals are only counted, never shown."""

    id: str
    kind: QuestionKind
    question: str
    options: tuple[str, ...] = ()
    multi_select: bool = False
    allow_freeform: bool = False
