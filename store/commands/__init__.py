"""What can be changed in the store: each command is one function, run inside a batch's transaction.

A command takes the connection and plain data, and gives plain data; it raises Conflict when what it expects
is not so. Nothing here begins or ends a transaction.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from showcaller.store.commands.approvals import (
    change_approval,
    end_approval,
    open_approval,
    revoke_approvals,
)
from showcaller.store.commands.archiving import archive_session, delete_session
from showcaller.store.commands.cards import end_card, open_card
from showcaller.store.commands.fanouts import finish_fanout, record_item, retry_item, start_fanout, start_item
from showcaller.store.commands.groups import create_group, dissolve_group, order_groups, rename_group
from showcaller.store.commands.holds import hold_queue, release_queue
from showcaller.store.commands.pruning import (
    prune_client_ids,
    prune_deliveries,
    prune_events,
    prune_subscriptions,
    prune_tasks,
)
from showcaller.store.commands.relay import open_relay
from showcaller.store.commands.repeats import remember_call
from showcaller.store.commands.sessions import accept_message, create_session, set_agent_session
from showcaller.store.commands.settings import set_setting
from showcaller.store.commands.steering import steer_message, steer_taken, unsteer_message
from showcaller.store.commands.subscriptions import (
    advance_watcher,
    subscribe,
    tell_heartbeat,
    unsubscribe,
)
from showcaller.store.commands.taking import take_messages
from showcaller.store.commands.tasks import end_task, start_task
from showcaller.store.commands.tokens import issue_token, note_token_uses, revoke_token
from showcaller.store.commands.turns import (
    begin_continuation,
    cancel_message,
    end_queued,
    end_turn,
    hand_over,
    interrupt_turns,
    take_back,
)
from showcaller.store.commands.unasked import restart_count
from showcaller.store.commands.updates import update_session

COMMANDS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        command.__name__: command
        for command in (
            open_relay,
            create_group,
            rename_group,
            dissolve_group,
            order_groups,
            create_session,
            set_agent_session,
            update_session,
            accept_message,
            archive_session,
            delete_session,
            hold_queue,
            release_queue,
            remember_call,
            hand_over,
            take_back,
            begin_continuation,
            steer_message,
            steer_taken,
            unsteer_message,
            take_messages,
            cancel_message,
            end_queued,
            end_turn,
            interrupt_turns,
            open_card,
            end_card,
            open_approval,
            change_approval,
            end_approval,
            revoke_approvals,
            restart_count,
            start_task,
            end_task,
            start_fanout,
            start_item,
            retry_item,
            record_item,
            finish_fanout,
            set_setting,
            subscribe,
            unsubscribe,
            advance_watcher,
            tell_heartbeat,
            issue_token,
            revoke_token,
            note_token_uses,
            prune_events,
            prune_client_ids,
            prune_tasks,
            prune_subscriptions,
            prune_deliveries,
        )
    }
)
"""Every command by the name under which a batch asks for it."""

__all__ = [
    "COMMANDS",
    "accept_message",
    "advance_watcher",
    "archive_session",
    "begin_continuation",
    "cancel_message",
    "change_approval",
    "create_group",
    "create_session",
    "delete_session",
    "dissolve_group",
    "end_approval",
    "end_card",
    "end_queued",
    "end_task",
    "end_turn",
    "finish_fanout",
    "hand_over",
    "hold_queue",
    "interrupt_turns",
    "issue_token",
    "note_token_uses",
    "open_approval",
    "open_card",
    "open_relay",
    "order_groups",
    "prune_client_ids",
    "prune_deliveries",
    "prune_events",
    "prune_subscriptions",
    "prune_tasks",
    "record_item",
    "release_queue",
    "remember_call",
    "rename_group",
    "restart_count",
    "retry_item",
    "revoke_approvals",
    "revoke_token",
    "set_agent_session",
    "set_setting",
    "start_fanout",
    "start_item",
    "start_task",
    "steer_message",
    "steer_taken",
    "subscribe",
    "take_back",
    "take_messages",
    "tell_heartbeat",
    "unsteer_message",
    "unsubscribe",
    "update_session",
]
