"""What can be read from the store: each query is one function over a read-only connection.

Queries take plain data and give plain data; columns keep their names, and times stay milliseconds since the
epoch (UTC). Each runs inside one read transaction, so what it gives belongs together.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from showcaller.store.queries.fanouts import fanout, fanout_items, find_group, last_fanouts
from showcaller.store.queries.messages import message, read_messages
from showcaller.store.queries.outbox import counts, relay, unfinished
from showcaller.store.queries.sessions import find_session, list_sessions, load_session
from showcaller.store.queries.started import started_at_work

QUERIES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        query.__name__: query
        for query in (
            load_session,
            find_session,
            list_sessions,
            started_at_work,
            read_messages,
            message,
            unfinished,
            fanout,
            fanout_items,
            last_fanouts,
            find_group,
            counts,
            relay,
        )
    }
)
"""Every query by the name under which a reader is asked for it."""

__all__ = [
    "QUERIES",
    "counts",
    "fanout",
    "fanout_items",
    "find_group",
    "find_session",
    "last_fanouts",
    "list_sessions",
    "load_session",
    "message",
    "read_messages",
    "relay",
    "started_at_work",
    "unfinished",
]
