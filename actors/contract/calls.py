"""The calls that are built: one model for each action, its fields in the order in which callers read of them.

The description of a field stands in the published schema. Values arrive as JSON; ``shape.parse_call`` removes
what is empty before it makes one of these.
"""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from showcaller.actors.contract.arguments import (
    Branch,
    Count50,
    Count100,
    IfBusyChoice,
    Line64,
    Line200,
    Line1000,
    MaxChars,
    ModeChoice,
    Prompt,
    RelayName,
    Repository,
    ScopeChoice,
    SessionName,
    Switch,
    WaitSeconds,
    Word,
)
from showcaller.actors.contract.limits import DEFAULT_WAIT_SECONDS


class CallModel(BaseModel):
    """Base of every call: frozen, and foreign fields are refused.

    ``nothing`` says in a refusal what did not happen; with ``refuses_foreign`` an argument that the action
    does not take is refused, else it is ignored and listed; ``not_external`` names what every caller but an
    external session must give.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    nothing: ClassVar[str] = ""
    refuses_foreign: ClassVar[bool] = False
    not_external: ClassVar[frozenset[str]] = frozenset()

    relay: RelayName = Field(
        description="The relay to work on: \"this\", a relay's name or a pairing's alias."
    )


class ListSessions(CallModel):
    """List sessions of a relay."""

    action: Literal["list_sessions"] = "list_sessions"
    scope: ScopeChoice = Field(
        default="recent",
        description="active: with a turn, a task or a card; recent: newest first; all: archived too.",
    )
    query: Line200 | None = Field(default=None, description="Only titles that contain this, in any case.")
    limit: Count100 = Field(default=20, description="How many to list.")
    cursor: Line1000 | None = Field(default=None, description="nextCursor of the page before.")


class ReadSession(CallModel):
    """Read the newest messages of a session and its states."""

    action: Literal["read_session"] = "read_session"
    session: SessionName = Field(description="The session's id.")
    last: Count50 = Field(default=10, description="How many messages.")
    max_chars: MaxChars = Field(
        default=12_000, description="Characters of text in all, newest messages first."
    )
    include_activity: Switch = Field(default=False, description="With what the agent did beside its text.")
    before: Line64 | None = Field(default=None, description="olderCursor of the page before.")


class Send(CallModel):
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


class CreateSession(CallModel):
    """Start a new session with a prompt, and wait for its reply."""

    nothing: ClassVar[str] = "Nothing was created."
    refuses_foreign: ClassVar[bool] = True

    action: Literal["create_session"] = "create_session"
    text: Prompt = Field(description="The prompt; the new session knows nothing else.")
    provider: Line64 | None = Field(default=None, description="Which agent; else the caller's own.")
    model: Line200 | None = Field(default=None, description="A model of the provider.")
    cwd: Line1000 | None = Field(default=None, description="The absolute folder to work in.")
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


class Wait(CallModel):
    """Wait for the reply to a message that was sent before."""

    not_external: ClassVar[frozenset[str]] = frozenset({"session", "message_id"})

    action: Literal["wait"] = "wait"
    session: SessionName | None = Field(default=None, description="The session's id.")
    message_id: Line64 | None = Field(
        default=None, description="The message's id, from send or create_session."
    )
    wait_seconds: WaitSeconds = Field(default=DEFAULT_WAIT_SECONDS, description="Seconds to wait.")


Call = ListSessions | ReadSession | Send | CreateSession | Wait
