"""Groups of sessions as their owner has them: listed, made, renamed, dissolved, put into an order."""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from showcaller.actors.contract.arguments import GroupName, Line200, whole_number
from showcaller.actors.contract.arguments.lists import group_names
from showcaller.actors.contract.calls.base import CallResult
from showcaller.actors.contract.limits import GROUPS_ORDERED, INBOX_ITEMS
from showcaller.actors.contract.outside import OutsideRequest
from showcaller.actors.contract.views import Moment, ResultModel


class Groups(OutsideRequest):
    """List the groups there are, also those in which no session is left."""

    name: ClassVar[str] = "groups"

    limit: Annotated[int, Field(ge=1, le=INBOX_ITEMS), BeforeValidator(whole_number)] = Field(
        default=100, description="How many to list at most."
    )


class GroupItem(ResultModel):
    """A group: ``name`` is what lists show, the title of its head where nobody has named it.

    ``made_by`` is ``owner`` or ``agent``: one that an agent made goes with its last session. ``at_work`` is
    how many turns run in its sessions, ``waiting`` how many questions of theirs wait for an answer.
    """

    id: str
    name: str | None = None
    made_by: str
    head: str | None = None
    member_count: int = Field(ge=0)
    at_work: int = Field(ge=0)
    waiting: int = Field(ge=0)
    last_activity_at: Moment | None = None


class GroupsResult(CallResult):
    """The answer to ``groups``: first those that the owner has put into an order, then the newest."""

    groups: tuple[GroupItem, ...]
    groups_total: int = Field(ge=0)


class NewGroup(OutsideRequest):
    """Make a group."""

    name: ClassVar[str] = "new_group"
    nothing: ClassVar[str] = "Nothing was made."

    action: Literal["new_group"] = "new_group"
    title: GroupName = Field(description="What it is called.")


class RenameGroup(OutsideRequest):
    """Give a group another name."""

    name: ClassVar[str] = "rename_group"
    nothing: ClassVar[str] = "Nothing was renamed."

    action: Literal["rename_group"] = "rename_group"
    group: Line200 = Field(description="The group's id or name.")
    title: GroupName = Field(description="What it is called from now on.")


class DissolveGroup(OutsideRequest):
    """Have the sessions of a group in none, and forget it."""

    name: ClassVar[str] = "dissolve_group"
    nothing: ClassVar[str] = "Nothing was dissolved."

    action: Literal["dissolve_group"] = "dissolve_group"
    group: Line200 = Field(description="The group's id or name.")


class OrderGroups(OutsideRequest):
    """Have these groups listed first, in this order; the others follow by their newest activity."""

    name: ClassVar[str] = "order_groups"
    nothing: ClassVar[str] = "Nothing was put into another order."

    action: Literal["order_groups"] = "order_groups"
    groups: Annotated[tuple[str, ...], Field(max_length=GROUPS_ORDERED), BeforeValidator(group_names)] = (
        Field(default=(), description="Their ids or names; left out, none has a place of its own.")
    )


GroupChange = NewGroup | RenameGroup | DissolveGroup | OrderGroups
"""What the owner does with groups."""


class GroupResult(CallResult):
    """The answer to a change of a group: its id, the name that it has now, and how many sessions left it."""

    group: str
    name: str | None = None
    sessions: int | None = Field(default=None, ge=0)


class OrderResult(CallResult):
    """The answer to ``order_groups``: the ids of those that are listed first."""

    groups: tuple[str, ...]
