"""The first schema."""

from typing import Any

from peewee import (
    SQL,
    AutoField,
    BlobField,
    BooleanField,
    CompositeKey,
    Context,
    Database,
    FloatField,
    IntegerField,
    Model,
    NodeList,
    TextField,
    fn,
)


class RisingField(AutoField):
    """An integer primary key with ``AUTOINCREMENT``."""

    def ddl(self, ctx: Context) -> NodeList:
        """Give the column's definition."""
        return NodeList((super().ddl(ctx), SQL("AUTOINCREMENT")))


def tables() -> list[type[Model]]:
    """Give the tables of this version as models of their own, which later changes do not touch."""

    class Base(Model):
        class Meta:
            legacy_table_names = False

    class Relay(Base):
        id = TextField(primary_key=True)
        name = TextField()
        version = TextField()
        created_at = IntegerField()
        opened_at = IntegerField()

    class SessionGroup(Base):
        id = TextField(primary_key=True)
        name = TextField(null=True)
        origin = TextField()
        head = TextField(null=True)
        created_at = IntegerField()

        class Meta:
            indexes = ((("name",), False), (("created_at",), False))

    class Session(Base):
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

        class Meta:
            indexes = ((("last_activity_at", "id"), False),)

    class Message(Base):
        position = AutoField()
        id = TextField(unique=True)
        session = TextField()
        role = TextField()
        kind = TextField()
        origin = TextField()
        hops = IntegerField(default=0)
        caller = TextField(null=True)
        client_id = TextField(null=True)
        fingerprint = TextField(null=True)
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

        class Meta:
            indexes = ((("session", "position"), False),)

    class Event(Base):
        cursor = RisingField()
        session = TextField()
        kind = TextField()
        at = IntegerField()
        message = TextField(null=True)
        text = TextField()

    class Outbox(Base):
        id = AutoField()
        kind = TextField()
        key = TextField()
        session = TextField()
        created_at = IntegerField()

        class Meta:
            indexes = ((("kind", "key"), True),)

    class Fanout(Base):
        group = TextField(primary_key=True)
        spec = TextField()
        created_at = IntegerField()
        finished_at = IntegerField(null=True)

        class Meta:
            indexes = ((("created_at",), False),)

    class FanoutItem(Base):
        group = TextField()
        number = IntegerField()
        item = TextField()
        session = TextField(null=True)
        message = TextField(null=True)
        attempts = IntegerField(default=0)
        status = TextField(null=True)
        exit_code = IntegerField(null=True)
        reply = TextField(null=True)
        seconds = FloatField(null=True)
        error = TextField(null=True)
        ended_at = IntegerField(null=True)

        class Meta:
            primary_key = CompositeKey("group", "number")

    class WriterBatch(Base):
        id = IntegerField(primary_key=True)
        epoch = IntegerField()
        incarnation = TextField(null=True)
        number = IntegerField(null=True)
        answers = BlobField(null=True)

    Session.add_index(
        Session.index(Session.group, where=Session.group.is_null(False), name="session_group_members")
    )
    waiting = Message.status.in_([SQL("'queued'"), SQL("'handed'")])
    Message.add_index(
        Message.index(Message.status, Message.session, where=waiting, name="message_unfinished")
    )
    Message.add_index(
        Message.index(
            fn.COALESCE(Message.caller, SQL("''")),
            Message.client_id,
            unique=True,
            where=Message.client_id.is_null(False),
            name="message_client_id",
        )
    )
    return [Relay, SessionGroup, Session, Message, Event, Outbox, Fanout, FanoutItem, WriterBatch]


def up(_migrator: Any, database: Database) -> None:
    """Create every table and index."""
    models = tables()
    database.bind(models)
    database.create_tables(models)
