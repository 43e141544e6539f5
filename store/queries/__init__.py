"""What can be read from the store: each query is one function over a read-only connection.

Queries take plain data and give plain data; columns keep their names, and times stay milliseconds since the
epoch (UTC). Each runs inside one read transaction, so what it gives belongs together.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from showcaller.store.queries.approvals import approvals, approvals_without_turn, standing_approvals
from showcaller.store.queries.background_tasks import task, tasks, tasks_at_workers
from showcaller.store.queries.cards import card, inbox, pending_cards
from showcaller.store.queries.event_log import events, told_events
from showcaller.store.queries.fanouts import fanout, fanout_items, last_fanouts
from showcaller.store.queries.folders import recent_folders
from showcaller.store.queries.messages import (
    last_words,
    message,
    most_hops,
    read_messages,
    waiting_messages,
)
from showcaller.store.queries.outbox import counts, handed, relay, unfinished
from showcaller.store.queries.owner_settings import settings
from showcaller.store.queries.repeats import client_call
from showcaller.store.queries.replies import last_replies, replies_after
from showcaller.store.queries.session_groups import find_group, group_members, groups, groups_listed
from showcaller.store.queries.sessions import find_session, list_sessions, load_session
from showcaller.store.queries.started import started_at_work
from showcaller.store.queries.subscriptions import subscriptions, watcher_of, watchers, watching
from showcaller.store.queries.tokens import token, tokens, turn_goes_on, turn_under_way
from showcaller.store.queries.transcripts import transcript
from showcaller.store.queries.watched import at_work, watched_sessions

QUERIES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        query.__name__: query
        for query in (
            load_session,
            find_session,
            list_sessions,
            started_at_work,
            last_words,
            read_messages,
            transcript,
            waiting_messages,
            most_hops,
            message,
            replies_after,
            last_replies,
            unfinished,
            handed,
            tasks,
            task,
            tasks_at_workers,
            card,
            pending_cards,
            inbox,
            standing_approvals,
            approvals,
            approvals_without_turn,
            events,
            told_events,
            watched_sessions,
            at_work,
            groups,
            groups_listed,
            group_members,
            find_group,
            recent_folders,
            client_call,
            settings,
            watching,
            subscriptions,
            watchers,
            watcher_of,
            token,
            tokens,
            turn_goes_on,
            turn_under_way,
            fanout,
            fanout_items,
            last_fanouts,
            counts,
            relay,
        )
    }
)
"""Every query by the name under which a reader is asked for it."""

SHOWN = frozenset(
    query.__name__
    for query in (
        list_sessions,
        last_words,
        read_messages,
        transcript,
        groups,
        groups_listed,
        group_members,
        recent_folders,
        last_fanouts,
        tokens,
        subscriptions,
        inbox,
        approvals,
    )
)
"""Queries whose answer is only looked at: a damaged row is shown as well as can be beside the others."""

__all__ = [
    "QUERIES",
    "SHOWN",
    "approvals",
    "approvals_without_turn",
    "at_work",
    "card",
    "client_call",
    "counts",
    "events",
    "fanout",
    "fanout_items",
    "find_group",
    "find_session",
    "group_members",
    "groups",
    "groups_listed",
    "handed",
    "inbox",
    "last_fanouts",
    "last_replies",
    "last_words",
    "list_sessions",
    "load_session",
    "message",
    "most_hops",
    "pending_cards",
    "read_messages",
    "recent_folders",
    "relay",
    "replies_after",
    "settings",
    "standing_approvals",
    "started_at_work",
    "subscriptions",
    "task",
    "tasks",
    "tasks_at_workers",
    "token",
    "tokens",
    "told_events",
    "transcript",
    "turn_goes_on",
    "turn_under_way",
    "unfinished",
    "waiting_messages",
    "watched_sessions",
    "watcher_of",
    "watchers",
    "watching",
]
