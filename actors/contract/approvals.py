"""What stands allowed to agents' conversations, and how the owner takes it back; for the owner alone."""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from showcaller.actors.contract.arguments import Line1000, SessionName, whole_number
from showcaller.actors.contract.calls.base import CallResult
from showcaller.actors.contract.limits import INBOX_ITEMS
from showcaller.actors.contract.outside import OutsideRequest
from showcaller.actors.contract.views import Moment, ResultModel

ApprovalKind = Literal["create", "subscribe", "settings"]
"""What was allowed: to start sessions, to watch them, or to change settings of those that others started."""


class Approvals(OutsideRequest):
    """List what stands allowed, by conversation."""

    name: ClassVar[str] = "approvals"

    limit: Annotated[int, Field(ge=1, le=INBOX_ITEMS), BeforeValidator(whole_number)] = Field(
        default=100, description="How many to list at most."
    )
    cursor: Line1000 | None = Field(default=None, description="nextCursor of the page before.")


class ApprovalItem(ResultModel):
    """Something that stands allowed in a session with this ``title``, to its agent."""

    session: str
    title: str
    kind: str
    allowed_at: Moment


class ApprovalsResult(CallResult):
    """The answer to ``approvals``; ``next_cursor`` when there is more."""

    approvals: tuple[ApprovalItem, ...]
    next_cursor: str | None = None


class Revoke(OutsideRequest):
    """Have what was allowed in a conversation stand no more: of one kind, or all of it."""

    name: ClassVar[str] = "revoke"
    nothing: ClassVar[str] = "Nothing was revoked."

    action: Literal["revoke"] = "revoke"
    session: SessionName = Field(description="The conversation.")
    kind: ApprovalKind | None = Field(default=None, description="What was allowed; left out, all of it.")


class RevokeResult(CallResult):
    """The answer to ``revoke``: the kinds that stand no more; the next call of each asks again."""

    session: str
    revoked: tuple[str, ...]
