"""Watching from outside: what supervisors may ask of a relay that is no action of its tool, and the answers.

It has the shapes of calls and results, and a schema of its own for each. ``read_request`` makes one of what a
door received.
"""

from typing import Final

from showcaller.actors.contract.outside.requests import (
    Events,
    Monitor,
    Output,
    OutsideRequest,
    Until,
    read_request,
)
from showcaller.actors.contract.outside.results import (
    EventsResult,
    EventView,
    MonitorResult,
    OutputLine,
    OutputResult,
    WatchedView,
)

REQUESTS: Final[dict[str, type[OutsideRequest]]] = {
    "session_monitor": Monitor,
    "session_events": Events,
    "session_output": Output,
}
"""Every request by its name."""

__all__ = [
    "REQUESTS",
    "EventView",
    "Events",
    "EventsResult",
    "Monitor",
    "MonitorResult",
    "Output",
    "OutputLine",
    "OutputResult",
    "OutsideRequest",
    "Until",
    "WatchedView",
    "read_request",
]
