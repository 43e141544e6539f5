"""Watching sessions: subscriptions, what they hold, and moving them to another conversation."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from showcaller.actors.contract.arguments import (
    ALL,
    DayMinutes,
    EventNames,
    Excluded,
    HeartbeatMinutes,
    Matches,
    QuietHours,
    QuietWindow,
    SessionName,
    Sessions,
    SubscriptionName,
    Switch,
)
from showcaller.actors.contract.calls.base import CallResult, OwnRelayCall
from showcaller.actors.contract.limits import SESSIONS_NAMED, STALLED_MINUTES
from showcaller.actors.contract.views import LastTurn, Moment, ResultModel, SessionTitle, State

SubscriptionEnd = Literal[
    "unsubscribed", "by_owner", "once", "archived", "deleted", "unpaired", "forbidden", "transferred"
]


class Subscribe(OwnRelayCall):
    """Be woken when something happens in other sessions."""

    nothing: ClassVar[str] = "Nothing was subscribed to."

    action: Literal["subscribe"] = "subscribe"
    sessions: Sessions = Field(
        description='Ids of the sessions to watch, or ["all"] for every one now and later.'
    )
    events: EventNames | None = Field(
        default=None, description="Names of the events to hear of; else the usual ones."
    )
    once: Switch = Field(default=False, description="End with the first event.")
    match: Matches | None = Field(
        default=None,
        description="Only events whose text or title contains one of these, in any case; urgent ones always.",
    )
    stalled_minutes: DayMinutes = Field(
        default=STALLED_MINUTES, description="Minutes without a sign after which a turn or task is stalled."
    )
    heartbeat_minutes: HeartbeatMinutes | None = Field(
        default=None, description="Every so many minutes, hear which sessions work."
    )
    digest_minutes: DayMinutes | None = Field(
        default=None, description="Gather what is not urgent into one message every so many minutes."
    )
    quiet_hours: QuietWindow | None = Field(
        default=None, description="A daily window in which what is not urgent waits until it ends."
    )
    exclude: Excluded | None = Field(
        default=None, description='Ids of sessions to leave out, with sessions ["all"] only.'
    )

    @model_validator(mode="after")
    def _exclude_goes_with_all(self) -> Self:
        if self.exclude and self.sessions != ALL:
            raise ValueError(
                'exclude goes with sessions ["all"] only; a list of sessions names what it watches'
            )
        return self


class SubscriptionView(ResultModel):
    """A subscription with its options; ``sessions`` is ``all`` for every session of the relay.

    ``watcher`` is the conversation that holds it, where those of several are listed.
    """

    id: str
    watcher: SessionTitle | None = None
    sessions: tuple[SessionTitle, ...] | Literal["all"]
    events: tuple[str, ...]
    once: bool
    match: tuple[str, ...] | None = None
    stalled_minutes: int
    heartbeat_minutes: int | None = None
    digest_minutes: int | None = None
    quiet_hours: QuietHours | None = None
    exclude: tuple[str, ...] | None = Field(default=None, max_length=SESSIONS_NAMED)


class WatchedSession(SessionTitle):
    """How a watched session is when the subscription begins; ``already_idle`` when nothing is left in it."""

    state: State
    last_turn: LastTurn | None = None
    already_idle: bool


class SubscribeResult(CallResult):
    """The answer to ``subscribe``; what happened before it fires nothing, so ``sessions`` tells it."""

    subscription_id: str
    subscription: SubscriptionView
    sessions: tuple[WatchedSession, ...]


class Unsubscribe(OwnRelayCall):
    """End one subscription, or all that this conversation holds on the relay."""

    action: Literal["unsubscribe"] = "unsubscribe"
    subscription_id: SubscriptionName = Field(description='The subscription\'s id, or "all".')


class UnsubscribeResult(CallResult):
    """The answer to ``unsubscribe``: the ids of what ended."""

    unsubscribed: tuple[str, ...]


class ListSubscriptions(OwnRelayCall):
    """List subscriptions, active ones and those that ended in the last hour."""

    action: Literal["list_subscriptions"] = "list_subscriptions"
    watcher: SessionName | None = Field(
        default=None, description="The session whose subscriptions to list; else this conversation's."
    )


class ActiveSubscription(SubscriptionView):
    """A subscription that watches; ``next_delivery_at`` is None, written as null, when nothing is held."""

    null_said: ClassVar[frozenset[str]] = frozenset({"next_delivery_at"})

    held_count: int = Field(ge=0)
    next_delivery_at: Moment | None = None


class EndedSubscription(SubscriptionView):
    """A subscription that ended; the last two fields are there only while its last event is held."""

    ended_at: Moment
    end_reason: SubscriptionEnd
    held_count: int | None = Field(default=None, ge=1)
    next_delivery_at: Moment | None = None


class ListSubscriptionsResult(CallResult):
    """The answer to ``list_subscriptions``."""

    subscriptions: tuple[ActiveSubscription | EndedSubscription, ...]


class TransferSubscriptions(OwnRelayCall):
    """Take over the subscriptions of another conversation, with what they hold."""

    nothing: ClassVar[str] = "Nothing was transferred."

    action: Literal["transfer_subscriptions"] = "transfer_subscriptions"
    watcher: SessionName = Field(alias="from", description="The session whose subscriptions to take over.")


class SubscriptionLeft(ResultModel):
    """A subscription that stays where it is, because its relay is locked here."""

    id: str
    on: str
    reason: str


class TransferSubscriptionsResult(CallResult):
    """The answer to ``transfer_subscriptions``: the ids of what moved, and what stays."""

    transferred: tuple[str, ...]
    left: tuple[SubscriptionLeft, ...] = ()
