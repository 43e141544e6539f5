"""Fan-out jobs and their items."""

# ruff: noqa: D106 - the classes named Meta are peewee's way to say what a table is like

from peewee import CompositeKey, FloatField, IntegerField, TextField

from showcaller.store.models.base import StoreModel


class Fanout(StoreModel):
    """A fan-out job: one session per item, in one group."""

    group = TextField(primary_key=True)
    spec = TextField()
    created_at = IntegerField()
    finished_at = IntegerField(null=True)

    class Meta:
        indexes = ((("created_at",), False),)


class FanoutItem(StoreModel):
    """One item of a fan-out, with its one recorded result once ``status`` is set."""

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
