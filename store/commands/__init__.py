"""What can be changed in the store: each command is one function, run inside a batch's transaction.

A command takes the connection and plain data, and gives plain data; it raises Conflict when what it expects
is not so. Nothing here begins or ends a transaction.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from showcaller.store.commands.fanouts import finish_fanout, record_item, retry_item, start_fanout, start_item
from showcaller.store.commands.relay import create_group, open_relay
from showcaller.store.commands.sessions import accept_message, archive_session, create_session
from showcaller.store.commands.turns import cancel_message, end_turn, hand_over, interrupt_turns, take_back

COMMANDS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        command.__name__: command
        for command in (
            open_relay,
            create_group,
            create_session,
            accept_message,
            archive_session,
            hand_over,
            take_back,
            cancel_message,
            end_turn,
            interrupt_turns,
            start_fanout,
            start_item,
            retry_item,
            record_item,
            finish_fanout,
        )
    }
)
"""Every command by the name under which a batch asks for it."""

__all__ = [
    "COMMANDS",
    "accept_message",
    "archive_session",
    "cancel_message",
    "create_group",
    "create_session",
    "end_turn",
    "finish_fanout",
    "hand_over",
    "interrupt_turns",
    "open_relay",
    "record_item",
    "retry_item",
    "start_fanout",
    "start_item",
    "take_back",
]
