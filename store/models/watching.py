"""Subscriptions with what they hold, wake-ups, schedules, and what policies did."""

# ruff: noqa: D106 - the classes named Meta are peewee's way to say what a table is like

from typing import Any, Final

from peewee import BooleanField, CompositeKey, IntegerField, TextField, fn

from showcaller.store.models.base import StoreModel

HERE: Final = ""
"""The ``relay`` of subscriptions to this one."""


class Subscription(StoreModel):
    """What a conversation hears of others.

    ``relay`` is '' for this one, else a pairing's; ``cursor`` the last event of the log that it has seen.
    Without ``events`` (JSON text, like ``matches``) it takes the default of the running version. The quiet
    hours are set as a whole or not at all.
    """

    id = TextField(primary_key=True)
    watcher = TextField()
    relay = TextField()
    watches_all = BooleanField()
    events = TextField(null=True)
    once = BooleanField()
    matches = TextField(null=True)
    stalled_minutes = IntegerField()
    heartbeat_minutes = IntegerField(null=True)
    digest_minutes = IntegerField(null=True)
    quiet_from = TextField(null=True)
    quiet_to = TextField(null=True)
    quiet_tz = TextField(null=True)
    hops = IntegerField()
    cursor = IntegerField()
    next_digest_at = IntegerField(null=True)
    created_at = IntegerField()
    ended_at = IntegerField(null=True)
    end_reason = TextField(null=True)

    class Meta:
        indexes = ((("watcher", "created_at"), False),)


class Watched(StoreModel):
    """A session that a subscription names, or leaves out of all (``excluded``)."""

    subscription = TextField()
    session = TextField()
    excluded = BooleanField()

    class Meta:
        primary_key = CompositeKey("subscription", "session")
        indexes = ((("session",), False),)


class HeldEvent(StoreModel):
    """An event that a subscription took and has not let go.

    ``event`` is JSON text of what its line tells, which may outlive what the log keeps.
    """

    subscription = TextField()
    cursor = IntegerField()
    event = TextField(null=True)
    due_at = IntegerField(null=True)

    class Meta:
        primary_key = CompositeKey("subscription", "cursor")
        indexes = ((("due_at",), False),)


def holds_events() -> Any:
    """The condition of subscriptions that hold an event: they are asked for after their end too."""
    return fn.EXISTS(HeldEvent.select(HeldEvent.cursor).where(HeldEvent.subscription == Subscription.id))


class Watcher(StoreModel):
    """When a watching conversation is woken next; ``wakeups`` are those of the last hour, as JSON text."""

    session = TextField(primary_key=True)
    wakeups = TextField()
    window_ends_at = IntegerField(null=True)
    digest_at = IntegerField(null=True)


class Delivery(StoreModel):
    """An event that entered a watcher's conversation, which it does once; ``message`` told it."""

    watcher = TextField()
    relay = TextField()
    cursor = IntegerField()
    message = TextField()
    delivered_at = IntegerField()

    class Meta:
        primary_key = CompositeKey("watcher", "relay", "cursor")
        indexes = ((("message",), False), (("delivered_at",), False))


class Schedule(StoreModel):
    """A prompt that comes later, once or again and again: to ``session``, made by ``set_by``.

    ``message`` is that of the last firing; ``held_since`` is set while a firing waits for the owner.
    """

    id = TextField(primary_key=True)
    session = TextField()
    set_by = TextField(null=True)
    title = TextField(null=True)
    text = TextField()
    first_at = IntegerField(null=True)
    every_minutes = IntegerField(null=True)
    rrule = TextField(null=True)
    tz = TextField(null=True)
    once = BooleanField()
    hops = IntegerField()
    via = TextField(null=True)
    next_fire_at = IntegerField(null=True)
    last_fired_at = IntegerField(null=True)
    fired_count = IntegerField()
    skipped_count = IntegerField()
    held_since = IntegerField(null=True)
    message = TextField(null=True)
    created_at = IntegerField()
    ended_at = IntegerField(null=True)
    end_reason = TextField(null=True)

    class Meta:
        indexes = ((("session", "created_at"), False), (("set_by", "created_at"), False))


class PolicyAct(StoreModel):
    """What a policy did on an event, which it does once; ``detail`` is JSON text."""

    policy = TextField()
    cursor = IntegerField()
    session = TextField()
    act = TextField()
    status = TextField()
    detail = TextField(null=True)
    acted_at = IntegerField()

    class Meta:
        primary_key = CompositeKey("policy", "cursor")
        indexes = ((("policy", "acted_at"), False),)


Subscription.add_index(
    Subscription.index(
        Subscription.relay,
        Subscription.cursor,
        where=Subscription.ended_at.is_null(),
        name="subscription_open",
    )
)
Schedule.add_index(
    Schedule.index(Schedule.next_fire_at, where=Schedule.next_fire_at.is_null(False), name="schedule_due")
)
