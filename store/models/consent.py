"""What the owner is asked, what was allowed, and what does not wait for an answer."""

# ruff: noqa: D106 - the classes named Meta are peewee's way to say what a table is like

from peewee import BooleanField, CompositeKey, IntegerField, TextField

from showcaller.store.models.base import StoreModel, literal


class Card(StoreModel):
    """A question that blocks what is behind it.

    ``kind`` is ``approval``, ``permission`` or ``ask_user``; ``message`` the turn in which it shows, ``call``
    the call that waits for it, ``worker_card`` its worker's name for it. ``options``, ``form``, ``grants``
    (what *Allow* covers) and ``answer`` are JSON text. ``status`` is ``pending``, ``answered``,
    ``dismissed``, ``timed_out`` or ``withdrawn``.
    """

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
    worker_card = TextField(null=True)
    detail = TextField(null=True)

    class Meta:
        indexes = ((("session", "created_at"), False), (("session", "worker_card"), True))


class Approval(StoreModel):
    """What an *Allow* goes on covering in a conversation; ``relay`` is '' for this one, else a pairing's."""

    conversation = TextField()
    kind = TextField()
    relay = TextField()
    card = TextField(null=True)
    created_at = IntegerField()

    class Meta:
        primary_key = CompositeKey("conversation", "kind", "relay")


class Question(StoreModel):
    """A question that blocks nobody: asked by ``asker``, shown in ``session``.

    ``options`` is JSON text; ``status`` is ``pending``, ``answered``, ``dismissed`` or ``withdrawn``; ``via``
    the relay on which it was answered.
    """

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
    Card.index(Card.session, Card.created_at, where=Card.status == literal("pending"), name="card_pending")
)
Question.add_index(
    Question.index(Question.created_at, where=Question.status == literal("pending"), name="question_pending")
)
