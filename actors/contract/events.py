"""The events that watchers hear of: which there are, which come by default, and which are urgent."""

from collections.abc import Collection
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

Heard = Literal["default", "named", "option", "always"]
"""When a subscription takes it: if it names none, only if it names it, if its option is set, or ever."""

EventName = Literal[
    "question_asked",
    "question_answered",
    "error",
    "turn_end",
    "subagent_finished",
    "task_failed",
    "stalled",
    "all_idle",
    "turn_started",
    "task_started",
    "task_finished",
    "heartbeat",
    "archived",
    "link_lost",
    "link_restored",
]


class Event(NamedTuple):
    """One row of the table; an urgent event is held by no digest, no quiet hours and no cap."""

    name: EventName
    heard: Heard
    urgent: bool = False


_ROWS: Final = (
    Event("question_asked", "default", urgent=True),
    Event("question_answered", "always", urgent=True),
    Event("error", "default", urgent=True),
    Event("turn_end", "default"),
    Event("subagent_finished", "default"),
    Event("task_failed", "default"),
    Event("stalled", "default"),
    Event("all_idle", "default"),
    Event("turn_started", "named"),
    Event("task_started", "named"),
    Event("task_finished", "named"),
    Event("heartbeat", "option"),
    Event("archived", "default"),
    Event("link_lost", "always", urgent=True),
    Event("link_restored", "always", urgent=True),
)

EVENTS: Final = MappingProxyType({row.name: row for row in _ROWS})
"""Every event by its name, in the order of the contract."""


def heard_events(named: Collection[EventName] | None, *, heartbeat: bool = False) -> frozenset[EventName]:
    """Say which events a subscription takes.

    Args:
        named: the names that it gave, None for those of this version's default.
        heartbeat: whether it gave ``heartbeat_minutes``.

    """
    chosen: set[EventName] = set(_heard("default") if named is None else named)
    if "task_finished" in chosen:
        chosen.add("subagent_finished")
    # Without its interval a heartbeat has no time to come at, named or not.
    chosen.discard("heartbeat")
    if heartbeat:
        chosen.add("heartbeat")
    return frozenset([*chosen, *_heard("always")])


def _heard(when: Heard) -> list[EventName]:
    return [row.name for row in _ROWS if row.heard == when]
