"""The tables of consent, watching, schedules, policies, tokens and links; what lists of sessions look at."""

from typing import Any

from peewee import SQL, BooleanField, CompositeKey, Database, IntegerField, Model, TextField

STATEMENTS = (
    'ALTER TABLE "session" ADD COLUMN "prompts_unasked" INTEGER NOT NULL DEFAULT 0',
    'DROP INDEX "session_last_activity_at_id"',
    'CREATE INDEX "session_last_activity_at_id_archived_at_deleted_at" ON "session"'
    ' ("last_activity_at", "id", "archived_at", "deleted_at")',
)


class Base(Model):
    """Base of every table."""

    class Meta:  # noqa: D106
        legacy_table_names = False


def consent_tables() -> list[type[Model]]:
    """Give these tables as models of their own, which later changes do not touch."""

    class Card(Base):
        id = TextField(primary_key=True)
        session = TextField()
        kind = TextField()
        message = TextField(null=True)
        call = TextField(null=True)
        question = TextField()
        options = TextField(null=True)
        multi_select = BooleanField()
        allow_freeform = BooleanField()
        form = TextField(null=True)
        grants = TextField(null=True)
        status = TextField()
        answer = TextField(null=True)
        via = TextField(null=True)
        created_at = IntegerField()
        expires_at = IntegerField()
        ended_at = IntegerField(null=True)

        class Meta:
            indexes = ((("session", "created_at"), False),)

    class Approval(Base):
        conversation = TextField()
        kind = TextField()
        relay = TextField()
        card = TextField(null=True)
        created_at = IntegerField()

        class Meta:
            primary_key = CompositeKey("conversation", "kind", "relay")

    class Question(Base):
        id = TextField(primary_key=True)
        asker = TextField()
        session = TextField()
        question = TextField()
        options = TextField(null=True)
        recommendation = TextField(null=True)
        detail = TextField(null=True)
        hops = IntegerField()
        status = TextField()
        answer = TextField(null=True)
        choice = TextField(null=True)
        via = TextField(null=True)
        created_at = IntegerField()
        ended_at = IntegerField(null=True)

        class Meta:
            indexes = ((("asker", "created_at"), False), (("session", "created_at"), False))

    Card.add_index(
        Card.index(Card.expires_at, Card.session, where=Card.status == SQL("'pending'"), name="card_pending")
    )
    Question.add_index(
        Question.index(
            Question.created_at, where=Question.status == SQL("'pending'"), name="question_pending"
        )
    )
    return [Card, Approval, Question]


def watching_tables() -> list[type[Model]]:
    """Give these tables as models of their own, which later changes do not touch."""

    class Subscription(Base):
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

    class Watched(Base):
        subscription = TextField()
        session = TextField()
        excluded = BooleanField()

        class Meta:
            primary_key = CompositeKey("subscription", "session")
            indexes = ((("session",), False),)

    class HeldEvent(Base):
        subscription = TextField()
        cursor = IntegerField()
        event = TextField(null=True)
        due_at = IntegerField(null=True)

        class Meta:
            primary_key = CompositeKey("subscription", "cursor")
            indexes = ((("due_at",), False),)

    class Watcher(Base):
        session = TextField(primary_key=True)
        wakeups = TextField()
        window_ends_at = IntegerField(null=True)
        digest_at = IntegerField(null=True)

    class Delivery(Base):
        watcher = TextField()
        relay = TextField()
        cursor = IntegerField()
        message = TextField()
        delivered_at = IntegerField()

        class Meta:
            primary_key = CompositeKey("watcher", "relay", "cursor")
            indexes = ((("message",), False), (("delivered_at",), False))

    class Schedule(Base):
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

    class PolicyAct(Base):
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
    return [Subscription, Watched, HeldEvent, Watcher, Delivery, Schedule, PolicyAct]


def link_tables() -> list[type[Model]]:
    """Give these tables as models of their own, which later changes do not touch."""

    class Token(Base):
        hash = TextField(primary_key=True)
        kind = TextField()
        name = TextField(null=True)
        session = TextField(null=True)
        created_at = IntegerField()
        used_at = IntegerField(null=True)
        expires_at = IntegerField(null=True)
        revoked_at = IntegerField(null=True)

        class Meta:
            indexes = ((("session",), False), (("kind", "name"), False))

    class Pairing(Base):
        relay = TextField(primary_key=True)
        known_as = TextField(unique=True)
        name = TextField()
        address = TextField(null=True)
        public_key = TextField(unique=True)
        we_call = BooleanField()
        they_call = BooleanField()
        permission = TextField()
        accepts_prompts = BooleanField()
        own_card = BooleanField()
        owner_answers = TextField()
        version = TextField(null=True)
        protocol = IntegerField(null=True)
        created_at = IntegerField()
        seen_at = IntegerField(null=True)

    class Unlock(Base):
        conversation = TextField()
        relay = TextField()
        created_at = IntegerField()

        class Meta:
            primary_key = CompositeKey("conversation", "relay")
            indexes = ((("relay",), False),)

    return [Token, Pairing, Unlock]


def up(_migrator: Any, database: Database) -> None:
    """Add the tables, and change the index."""
    models = [*consent_tables(), *watching_tables(), *link_tables()]
    database.bind(models)
    database.create_tables(models)
    for statement in STATEMENTS:
        database.execute_sql(statement)
