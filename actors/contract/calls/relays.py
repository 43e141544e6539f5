"""What relays there are, what one offers, and what is left of its accounts."""

from typing import ClassVar, Literal

from pydantic import Field

from showcaller.actors.contract.arguments import Mode
from showcaller.actors.contract.calls.base import CallModel, CallResult, RelayCall
from showcaller.actors.contract.limits import GROUPS_LISTED
from showcaller.actors.contract.views import Moment, ResultModel

Permission = Literal["read", "prompt", "full"]
UsageStatus = Literal["tracked", "not_tracked", "not_configured", "unavailable"]


class ListRelays(CallModel):
    """List this relay and its paired relays; works with no mention and no relay."""

    action: Literal["list_relays"] = "list_relays"


class OwnName(ResultModel):
    """The relay on which the caller runs."""

    name: str


class RelayRow(ResultModel):
    """A relay that agents can name; ``own``, written ``self``, marks the one on which the caller runs."""

    name: str
    own: Literal[True] | None = Field(default=None, serialization_alias="self")
    url: str | None = None
    online: bool
    version: str | None = None
    permission: Permission
    unlocked: bool


class RelayLimits(ResultModel):
    """What this relay's owner allows at most."""

    max_wait_seconds: int = Field(ge=0)
    max_active_sessions: int = Field(ge=1)


class ListRelaysResult(CallResult):
    """The answer to ``list_relays``: this relay first; ``own`` is written ``self``."""

    own: OwnName = Field(serialization_alias="self")
    relays: tuple[RelayRow, ...]
    limits: RelayLimits


class RelayInfo(RelayCall):
    """Ask what a relay offers: providers, models, efforts, folders, modes, groups."""

    action: Literal["relay_info"] = "relay_info"


class ProviderInfo(ResultModel):
    """A provider of a relay; ``takes`` is what its sessions work in, ``steers`` if turns can be joined."""

    provider: str
    label: str
    configured: bool
    agents_may_start: bool
    default_model: str | None = None
    models: tuple[str, ...] = ()
    efforts: tuple[str, ...] = ()
    takes: Literal["folder", "repo"] = "folder"
    steers: bool = False
    note: str | None = None


class Workspaces(ResultModel):
    """The folder that sessions work in when they name none, and the last ones used."""

    default: str
    recent: tuple[str, ...] = ()


class GroupInfo(ResultModel):
    """A group that a new session can be put in; nothing about its members but their number."""

    id: str
    name: str
    member_count: int = Field(ge=1)


class RelayInfoResult(CallResult):
    """The answer to ``relay_info``.

    ``groups`` are the newest in activity, 50 at most, with ``groups_total`` beyond; None, written as null,
    when they cannot be read, which ``groups_note`` explains.
    """

    null_said: ClassVar[frozenset[str]] = frozenset({"groups"})

    name: str
    version: str
    platform: str
    protocol: int = Field(ge=1)
    accepts_agent_prompts: bool
    providers: tuple[ProviderInfo, ...]
    workspaces: Workspaces
    relay_modes: tuple[Mode, ...]
    groups: tuple[GroupInfo, ...] | None = Field(max_length=GROUPS_LISTED)
    groups_total: int | None = Field(default=None, ge=0)
    groups_note: str | None = None


class Usage(RelayCall):
    """Ask what is left of each provider's allowance on a relay."""

    action: Literal["usage"] = "usage"


class Meter(ResultModel):
    """One allowance of a provider's account; ``rate`` is the part used, 0 to 1 and above when overdrawn."""

    name: str
    used: float | None = None
    allowance: float | None = None
    left: float | None = None
    rate: float | None = Field(default=None, ge=0)
    resets_at: Moment | None = None
    unit: str | None = None


class ProviderUsage(ResultModel):
    """What is left of a provider; ``paused`` when a limit holds its turns, ``resumes_at`` where known."""

    provider: str
    status: UsageStatus
    meters: tuple[Meter, ...] = ()
    paused: bool = False
    resumes_at: Moment | None = None


class UsageResult(CallResult):
    """The answer to ``usage``: no account name, no address, no token."""

    providers: tuple[ProviderUsage, ...]
