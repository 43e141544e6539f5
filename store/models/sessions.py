"""Sessions, their messages and tasks, what happened in them, and what must follow."""

# ruff: noqa: D106 - the classes named Meta are peewee's way to say what a table is like

from typing import Any

from peewee import (
    SQL,
    AutoField,
    BooleanField,
    CompositeKey,
    Field,
    FloatField,
    IntegerField,
    TextField,
    fn,
)

from showcaller.store.models.base import ZERO, RisingField, StoreModel, literal, one_of
from showcaller.store.models.relay import SessionGroup


class Session(StoreModel):
    """A conversation with one agent.

    ``prompts_unasked`` counts what its agent sent to others since the owner last wrote here. While
    ``held_at`` is set, a stop holds its queue. One with ``deleted_at`` is a tombstone: it is archived
    as well, and its texts, and those of its messages, are gone.
    """

    id = TextField(primary_key=True)
    title = TextField()
    provider = TextField()
    model = TextField(null=True)
    mode = TextField()
    effort = TextField(null=True)
    cwd = TextField(null=True)
    group = TextField(null=True)
    created_by = TextField(null=True)
    origin = TextField()
    created_at = IntegerField()
    last_activity_at = IntegerField()
    archived_at = IntegerField(null=True)
    message_count = IntegerField(default=0)
    held_at = IntegerField(null=True)
    deleted_at = IntegerField(null=True)
    may_create_sessions = BooleanField(default=False, constraints=ZERO)
    agent_session_id = TextField(null=True)
    repo = TextField(null=True)
    branch = TextField(null=True)
    auto_compact_window = IntegerField(null=True)
    thinking_enabled = BooleanField(null=True)
    thinking_display = TextField(null=True)
    prompts_unasked = IntegerField(default=0, constraints=ZERO)

    class Meta:
        indexes = ((("last_activity_at", "id", "archived_at", "deleted_at"), False),)


class Message(StoreModel):
    """A prompt with what became of its turn (role ``user``), or a reply (role ``agent``).

    ``position`` is the order in which the relay accepted messages, over all sessions; ``fanout`` is the
    group of the fan-out whose attempt it is. One that joined a running turn names that turn's message in
    ``steered_into`` and is ``handed`` like it; ``steer_taken`` says that the agent acknowledged it. ``via``
    is JSON text about the agent that sent it; ``model``, ``mode`` and ``effort`` are what the sender named.
    """

    position = AutoField()
    id = TextField(unique=True)
    session = TextField()
    role = TextField()
    kind = TextField()
    origin = TextField()
    hops = IntegerField(default=0)
    caller = TextField(null=True)
    text = TextField()
    item = TextField(null=True)
    fanout = TextField(null=True)
    timeout = FloatField(null=True)
    status = TextField()
    stop_reason = TextField(null=True)
    error_class = TextField(null=True)
    error_text = TextField(null=True)
    worker = TextField(null=True)
    exit_code = IntegerField(null=True)
    truncated = BooleanField(default=False)
    seconds = FloatField(null=True)
    reply_to = TextField(null=True)
    created_at = IntegerField()
    handed_at = IntegerField(null=True)
    ended_at = IntegerField(null=True)
    steered_into = TextField(null=True)
    steer_taken = BooleanField(default=False, constraints=ZERO)
    model = TextField(null=True)
    mode = TextField(null=True)
    effort = TextField(null=True)
    via = TextField(null=True)

    class Meta:
        indexes = ((("session", "position"), False),)


class Activity(StoreModel):
    """What an agent did in a turn beside its text: lines, by the message with which they are shown.

    That is the turn's reply, or its prompt where there is none.
    """

    message = TextField(primary_key=True)
    session = TextField()
    lines = TextField()

    class Meta:
        indexes = ((("session",), False),)


class ClientId(StoreModel):
    """A write that its caller named, so that a repeat has no second effect; ``caller`` is '' for the owner.

    A prompt has its ``message`` and ``session``; any other write its ``result`` as JSON text.
    """

    caller = TextField()
    client_id = TextField()
    fingerprint = TextField(null=True)
    message = TextField(null=True)
    session = TextField(null=True)
    result = TextField(null=True)
    created_at = IntegerField()

    class Meta:
        primary_key = CompositeKey("caller", "client_id")


class Task(StoreModel):
    """Something that runs in the background of a session.

    ``worker_task`` is its worker's name for it, ``message`` the turn in which it began, ``status`` is
    ``running``, ``done``, ``failed``, ``stopped`` or ``interrupted``. ``tail`` is the end of its raw output,
    kept for a while after its end.
    """

    id = TextField(primary_key=True)
    session = TextField()
    worker_task = TextField()
    message = TextField(null=True)
    type = TextField()
    description = TextField()
    status = TextField()
    exit_code = IntegerField(null=True)
    started_at = IntegerField()
    ended_at = IntegerField(null=True)
    tail = TextField(null=True)

    class Meta:
        indexes = ((("session", "worker_task"), True),)


class Event(StoreModel):
    """What happened in a session, '' for none alone, in the order of ``cursor``.

    ``detail`` is JSON text of what an event says besides, that was found for one subscription.
    """

    cursor = RisingField()
    session = TextField()
    kind = TextField()
    at = IntegerField()
    message = TextField(null=True)
    text = TextField()
    task = TextField(null=True)
    detail = TextField(null=True)


class Outbox(StoreModel):
    """What must follow a change: written with it, done after its commit, done again after a crash."""

    id = AutoField()
    kind = TextField()
    key = TextField()
    session = TextField()
    created_at = IntegerField()

    class Meta:
        indexes = ((("kind", "key"), True),)


ENDED = ("done", "failed", "stopped", "cancelled")
"""The states of a message that never change again."""


def unfinished(status: "Field[Any]") -> Any:
    """The condition of the partial index; a query must state it word by word to be served from there."""
    return one_of(status, "queued", "handed")


def running_turn() -> tuple[Any, ...]:
    """The conditions of messages whose turn runs, but for those that joined another's."""
    return (Message.status == literal("handed"), unfinished(Message.status), Message.steered_into.is_null())


def has_members() -> Any:
    """The condition of groups with sessions that are not deleted."""
    return fn.EXISTS(Session.select(SQL("1")).where(Session.group == SessionGroup.id))


def group_stands() -> Any:
    """The condition of groups that are there: one that an agent made goes with its last session."""
    return (SessionGroup.origin == literal("owner")) | has_members()


Session.add_index(
    Session.index(
        Session.group,
        Session.last_activity_at,
        where=Session.group.is_null(False),
        name="session_group_members",
    )
)
Message.add_index(
    Message.index(
        Message.status, Message.session, where=unfinished(Message.status), name="message_unfinished"
    )
)
Message.add_index(
    Message.index(Message.steered_into, where=Message.steered_into.is_null(False), name="message_joined")
)
Task.add_index(Task.index(Task.session, where=Task.status == literal("running"), name="task_running"))
Task.add_index(Task.index(Task.ended_at, where=Task.tail.is_null(False), name="task_tails"))
