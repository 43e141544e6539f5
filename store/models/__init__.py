"""The tables as peewee models, bound to no database: whoever opens a file says which one they mean.

Ids are texts, times are milliseconds since the epoch (UTC). There are no foreign keys: every command checks
what it needs of the rows it refers to, and a check by the database would cost a look-up for each row again.
"""

from showcaller.store.models.base import StoreModel, literal
from showcaller.store.models.consent import Approval, Card, Question
from showcaller.store.models.fanouts import Fanout, FanoutItem
from showcaller.store.models.links import Pairing, Token, Unlock
from showcaller.store.models.relay import Relay, SessionGroup, Setting, WriterBatch
from showcaller.store.models.sessions import (
    ENDED,
    Activity,
    ClientId,
    Event,
    Message,
    Outbox,
    Session,
    Task,
    group_stands,
    has_members,
    running_turn,
    unfinished,
)
from showcaller.store.models.watching import (
    HERE,
    Delivery,
    HeldEvent,
    PolicyAct,
    Schedule,
    Subscription,
    Watched,
    Watcher,
    holds_events,
)

MODELS: tuple[type[StoreModel], ...] = (
    Relay,
    Setting,
    SessionGroup,
    Session,
    Message,
    Activity,
    ClientId,
    Task,
    Event,
    Outbox,
    Fanout,
    FanoutItem,
    Card,
    Approval,
    Question,
    Subscription,
    Watched,
    HeldEvent,
    Watcher,
    Delivery,
    Schedule,
    PolicyAct,
    Token,
    Pairing,
    Unlock,
    WriterBatch,
)

__all__ = [
    "ENDED",
    "HERE",
    "MODELS",
    "Activity",
    "Approval",
    "Card",
    "ClientId",
    "Delivery",
    "Event",
    "Fanout",
    "FanoutItem",
    "HeldEvent",
    "Message",
    "Outbox",
    "Pairing",
    "PolicyAct",
    "Question",
    "Relay",
    "Schedule",
    "Session",
    "SessionGroup",
    "Setting",
    "StoreModel",
    "Subscription",
    "Task",
    "Token",
    "Unlock",
    "Watched",
    "Watcher",
    "WriterBatch",
    "group_stands",
    "has_members",
    "holds_events",
    "literal",
    "running_turn",
    "unfinished",
]
