"""Who may come in: tokens, and paired relays with the conversations that they are open to."""

# ruff: noqa: D106 - the classes named Meta are peewee's way to say what a table is like

from peewee import BooleanField, CompositeKey, IntegerField, TextField

from showcaller.store.models.base import StoreModel


class Token(StoreModel):
    """A token, of which only the hash is kept.

    ``kind`` is ``owner``, ``agent``, ``external`` or ``supervisor``; ``session`` the conversation that it
    speaks for.
    """

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


class Pairing(StoreModel):
    """A paired relay: ``relay`` is its own id, ``known_as`` its alias here, ``address`` where it listens.

    ``permission`` is what agents may there, ``accepts_prompts`` whether its agents may act here, ``own_card``
    whether the owner here is asked as well; ``owner_answers`` is ``questions``, ``cards`` or ``approvals``.
    """

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


class Unlock(StoreModel):
    """A paired relay that is open to a conversation."""

    conversation = TextField()
    relay = TextField()
    created_at = IntegerField()

    class Meta:
        primary_key = CompositeKey("conversation", "relay")
        indexes = ((("relay",), False),)
