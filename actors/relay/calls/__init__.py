"""Tool calls: each is a short-lived actor that goes through the checks of ``order.py`` and then acts."""

from showcaller.actors.relay.calls.call import AnyRequest, Call
from showcaller.actors.relay.calls.caller import (
    OWNER,
    ActRequest,
    AnswerRequest,
    Caller,
    CallRequest,
    GroupRequest,
    RevokeRequest,
    WatchRequest,
)
from showcaller.actors.relay.calls.conversations import Conversations
from showcaller.actors.relay.calls.owner_acts import OwnerActName

__all__ = [
    "OWNER",
    "ActRequest",
    "AnswerRequest",
    "AnyRequest",
    "Call",
    "CallRequest",
    "Caller",
    "Conversations",
    "GroupRequest",
    "OwnerActName",
    "RevokeRequest",
    "WatchRequest",
]
