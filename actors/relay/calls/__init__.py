"""Tool calls: each is a short-lived actor that goes through the checks of ``order.py`` and then acts."""

from showcaller.actors.relay.calls.call import Call
from showcaller.actors.relay.calls.caller import (
    OWNER,
    ActRequest,
    AnswerRequest,
    Caller,
    CallRequest,
    RevokeRequest,
    WatchRequest,
)
from showcaller.actors.relay.calls.conversations import Conversations
from showcaller.actors.relay.calls.owner_acts import OwnerActName

__all__ = [
    "OWNER",
    "ActRequest",
    "AnswerRequest",
    "Call",
    "CallRequest",
    "Caller",
    "Conversations",
    "OwnerActName",
    "RevokeRequest",
    "WatchRequest",
]
