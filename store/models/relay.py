"""The relay itself, what its owner set, its groups of sessions, and who writes."""

# ruff: noqa: D106 - the classes named Meta are peewee's way to say what a table is like

from peewee import BlobField, IntegerField, TextField

from showcaller.store.models.base import ZERO, StoreModel


class Relay(StoreModel):
    """This relay: one row. Events up to ``pruned_cursor`` may have been deleted, later ones are all there."""

    id = TextField(primary_key=True)
    name = TextField()
    version = TextField()
    created_at = IntegerField()
    opened_at = IntegerField()
    pruned_cursor = IntegerField(default=0, constraints=ZERO)


class Setting(StoreModel):
    """What the owner set, as JSON text; what nobody set has no row."""

    name = TextField(primary_key=True)
    value = TextField()


class SessionGroup(StoreModel):
    """Sessions that belong together; ``head`` is the session that leads them, if one does.

    ``place`` is where its owner wants it listed, among those that have one.
    """

    id = TextField(primary_key=True)
    name = TextField(null=True)
    origin = TextField()
    head = TextField(null=True)
    created_at = IntegerField()
    place = IntegerField(null=True)

    class Meta:
        indexes = ((("name",), False), (("created_at",), False))


class WriterBatch(StoreModel):
    """The batch that was committed last, with its answers, and who may write: one row.

    ``epoch`` rises with every writer that opens the file; only the newest one's batches are carried out.
    """

    id = IntegerField(primary_key=True)
    epoch = IntegerField()
    incarnation = TextField(null=True)
    number = IntegerField(null=True)
    answers = BlobField(null=True)
